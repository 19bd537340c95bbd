"""What measures a number: the sign, currency, power of ten and unit before or after it.

Units, currencies and powers of ten are known by their words and signs in five languages.
"""

from __future__ import annotations

import re

from ragauge.quantities.quantity import Reading, shifted
from ragauge.text.word_lists import word_set

_UNITS: dict[str | None, str] = {
    "%": "% percent pct percentage procent prozent pourcent procents percents",
    "year": "year years yr yrs yo jaar jaren jarige jahr jahre jahren jährige jähriger ans année "
    "années jahres 年 岁 歲",
    "month": "month months mo mos maand maanden monat monate monaten mois 个月 個月",
    "week": "week weeks wk wks weken woche wochen semaine semaines 周 星期",
    "day": "day days dag dagen tag tage tagen jour jours 天",
    "hour": "hour hours hr hrs uur uren stunde stunden heure heures 小时 小時",
    "minute": "minute minutes min mins minuut minuten 分钟 分鐘",
    "second": "seconds sec secs s seconde seconden secondes sekunde sekunden 秒",
    "ms": "ms millisecond milliseconds",
    "decade": "decade decades decennium decennia jahrzehnt jahrzehnte décennie décennies",
    "century": "century centuries eeuw eeuwen jahrhundert jahrhunderts jahrhunderte siècle siècles "
    "世纪 世紀",
    "BC": "bc bce",
    "km": "km kms kilometer kilometers kilometre kilometres kilomètre kilomètres 公里 千米",
    "m": "m meter meters metre metres mètre mètres metern 米",
    "cm": "cm centimeter centimeters centimetre centimetres centimètre centimètres 厘米",
    "mm": "mm millimeter millimeters millimetre millimetres millimètre millimètres 毫米",
    "mile": "mile miles mi mijl mijlen meile meilen 英里",
    "foot": "foot feet ft voet pied pieds 英尺",
    "inch": "inch inches zoll pouce pouces 英寸",
    "yard": "yard yards yd yds",
    "kg": "kg kgs kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes 公斤 千克",
    "g": "g gram grams gramm gramme grammes 克",
    "mg": "mg milligram milligrams milligramm milligramme milligrammes 毫克",
    "ounce": "oz ounce ounces",
    "lb": "lb lbs",
    "tonne": "ton tons tonne tonnes tonnen 吨",
    None: "pound pounds degree degrees graden grad degrés 度 ¥",
    "l": "l liter liters litre litres 升",
    "ml": "ml milliliter milliliters millilitre millilitres 毫升",
    "gallon": "gallon gallons gal",
    "hectare": "ha hectare hectares hektar 公顷",
    "acre": "acre acres",
    "km/h": "kmh kph km/h",
    "mph": "mph",
    "°C": "°c ºc celsius ℃ 摄氏度",
    "°F": "°f ºf fahrenheit ℉",
    "W": "w watt watts",
    "kW": "kw kilowatt kilowatts",
    "MW": "mw megawatt megawatts",
    "kWh": "kwh",
    "Hz": "hz hertz",
    "KB": "kb kilobyte kilobytes",
    "MB": "mb megabyte megabytes",
    "GB": "gb gigabyte gigabytes",
    "TB": "tb terabyte terabytes",
    "calorie": "cal cals calorie calories kcal kcals calorieën kalorien 卡路里",
    "USD": "$ usd us$ dollar dollars 美元",
    "EUR": "€ eur euro euros 欧元 歐元",
    "GBP": "£ gbp sterling 英镑",
    "CNY": "cny rmb yuan 元 人民币",
    "JPY": "jpy yen 日元 円",
    "INR": "₹ inr rupee rupees",
    "CHF": "chf",
}
UNITS = {word: unit for unit, words in _UNITS.items() for word in words.split()}
"""The normal form of a unit by its lower-case word.

None if a word can be two units: pounds are money or weight, and no unit contradicts nothing.
"""
BEFORE_UNIT = {"square": "²", "sq": "²", "vierkante": "²", "cubic": "³", "kubieke": "³"}
"""Words before a unit of area or volume."""
GLUED = word_set(
    "km m cm mm kg g mg lb lbs oz l ml ha ft mi mph kmh kph yd kw mw w kwh hz kb mb gb tb s "
    "ms sec min mins hr hrs yr yrs yo kcal cal usd eur gbp"
)
"""Units that may follow their number without a space."""
CURRENCY_SIGNS = frozenset("$€£¥₹")
CURRENCY_BEFORE = {
    word: UNITS[word] for word in word_set("$ us$ usd € eur £ gbp ₹ inr cny rmb jpy chf ¥")
}
_SCALES = {
    2: "hundred honderd hundert",
    3: "thousand duizend tausend mille k 千",
    4: "万 萬",
    5: "lakh",
    6: "million millions miljoen millionen mln mio mn 百万",
    7: "crore",
    8: "亿 億",
    9: "billion billions bn b miljard milliard milliards milliarde milliarden mrd",
    12: "trillion trillions tn biljoen billionen 万亿",
}
SCALES = {word: power for power, words in _SCALES.items() for word in words.split()}
"""Powers of ten by the lower-case word or sign after a number written in digits."""

AFTER = re.compile(r"([ -]?)([A-Za-zÀ-ɏ]++|[%°℃℉€$£¥₹]|[㐀-鿿])")
"""The word or sign after a number, with the space or dash between them."""
HAN = "\u3400"
"""From here on, characters are words of their own."""
_PERCENT = re.compile(r"[ -]?(?:per ?cent|pour cent)\b", re.IGNORECASE)
_ALWAYS = frozenset({("7", "day"), ("24", "hour")})
_EVERY = re.compile(" (?:a|per) (?:week|day)")
_DOTTED = frozenset({"mio", "mrd", "mln"})


def scale_after(text: str, end: int, money: bool = False) -> tuple[int, int]:
    """The power of ten of the word after a number, and the end of that word.

    >>> scale_after("5 million", 1), scale_after("5 men", 1)
    ((6, 9), (0, 1))
    """
    match = AFTER.match(text, end)
    if not match:
        return 0, end
    word, past = match[2].lower(), match.end()
    if word > HAN and text[past - 1 : past + 1] in SCALES:
        return SCALES[text[past - 1 : past + 1]], past + 1
    if len(word) == 1 and word < HAN and match[1]:
        return 0, end
    if word == "m" and (money or match[2] == "M"):
        return 6, past
    if word == "b" and not money and match[2] == "b":
        return 0, end
    shift = SCALES.get(word, 0)
    if not shift:
        return 0, end
    return shift, past + (word in _DOTTED and text[past : past + 1] == ".")


def unit_after(text: str, end: int) -> tuple[str | None, int]:
    """The unit after a number, and its end; None and the given end if there is none.

    >>> unit_after("5 km", 1), unit_after("5 square miles", 1), unit_after("5 men", 1)
    (('km', 4), ('mile²', 14), (None, 1))
    """
    match = AFTER.match(text, end)
    if not match:
        return None, end
    word, past = match[2].lower(), match.end()
    if word > HAN:
        start = past - 1
        for length in (3, 2, 1):
            if text[start : start + length] in UNITS:
                return UNITS[text[start : start + length]], start + length
        return None, end
    if word in UNITS:
        if not match[1] and len(word) < 4 and word.isalpha() and word not in GLUED:
            return None, end
        unit, following = UNITS[word], text[past : past + 1]
        if unit and following in ("²", "³"):
            return unit + following, past + 1
        if unit == "km" and text[past : past + 2] == "/h":
            return "km/h", past + 2
        return unit, past
    if word in BEFORE_UNIT:
        noun = AFTER.match(text, past + (text[past : past + 1] == "."))
        unit = UNITS.get(noun[2].lower()) if noun else None
        return (unit + BEFORE_UNIT[word], noun.end()) if noun and unit else (None, end)
    if word == "°":
        degrees = text[past : past + 1].lower()
        return (UNITS[f"°{degrees}"], past + 1) if degrees in ("c", "f") else (None, past)
    if word in ("per", "pour"):
        percent = _PERCENT.match(text, end)
        return ("%", percent.end()) if percent else (None, end)
    return None, end


def currency_before(text: str, start: int, before: str, word: str) -> tuple[int, str | None]:
    """The start of a number with the currency before it, and the currency.

    >>> currency_before("USD 5", 4, " ", "USD"), currency_before("a 5", 2, " ", "a")
    ((0, 'USD'), (2, None))
    """
    if before in CURRENCY_SIGNS:
        sign = start - 1
    elif word and word[-1] in CURRENCY_SIGNS:
        sign = text.rindex(word[-1], 0, start)
    elif word.isupper() and word.lower() in CURRENCY_BEFORE:
        return text.rindex(word, 0, start), CURRENCY_BEFORE[word.lower()]
    else:
        return start, None
    if text[max(0, sign - 2) : sign] == "US":
        return sign - 2, "USD"
    if sign and text[sign - 1].isascii() and text[sign - 1].isalpha():
        return sign, None
    return sign, CURRENCY_BEFORE[text[sign]]


def is_always(text: str, end: int, value: str, unit: str | None) -> bool:
    """Whether it is seven days a week or 24 hours a day, which means always."""
    return (value, unit) in _ALWAYS and _EVERY.match(text, end) is not None


def scaled(readings: tuple[Reading, ...], shift: int, unit: str | None) -> tuple[Reading, ...]:
    """The readings, the numbers among them with a power of ten and a unit."""
    if not shift and unit is None:
        return readings
    return tuple(
        (kind, shifted(value, shift) if shift and "/" not in value else value, unit)
        if kind == "number"
        else (kind, value, own)
        for kind, value, own in readings
    )
