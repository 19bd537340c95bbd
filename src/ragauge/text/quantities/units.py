"""Units, currencies and powers of ten by the words and signs they go under in five languages."""

from __future__ import annotations

from ragauge.text.quantities.quantity import listed

UNITS: dict[str, str | None] = {}
"""The one form of a unit by its lower-case word.

None where a word is two units: pounds are money or weight, and what is not said contradicts
nothing.
"""


def _add(unit: str | None, words: str) -> None:
    UNITS.update(dict.fromkeys(words.split(), unit))


_add("%", "% percent pct percentage procent prozent pourcent procents percents")
_add("year", "year years yr yrs yo jaar jaren jarige jahr jahre jahren jährige jähriger ans année")
_add("year", "années jahres 年 岁 歲")
_add("month", "month months mo mos maand maanden monat monate monaten mois 个月 個月")
_add("week", "week weeks wk wks weken woche wochen semaine semaines 周 星期")
_add("day", "day days dag dagen tag tage tagen jour jours 天")
_add("hour", "hour hours hr hrs uur uren stunde stunden heure heures 小时 小時")
_add("minute", "minute minutes min mins minuut minuten 分钟 分鐘")
_add("second", "seconds sec secs s seconde seconden secondes sekunde sekunden 秒")
_add("ms", "ms millisecond milliseconds")
_add("decade", "decade decades decennium decennia jahrzehnt jahrzehnte décennie décennies")
_add(
    "century", "century centuries eeuw eeuwen jahrhundert jahrhunderts jahrhunderte siècle siècles"
)
_add("century", "世纪 世紀")
_add("BC", "bc bce")
_add("km", "km kms kilometer kilometers kilometre kilometres kilomètre kilomètres 公里 千米")
_add("m", "m meter meters metre metres mètre mètres metern 米")
_add("cm", "cm centimeter centimeters centimetre centimetres centimètre centimètres 厘米")
_add("mm", "mm millimeter millimeters millimetre millimetres millimètre millimètres 毫米")
_add("mile", "mile miles mi mijl mijlen meile meilen 英里")
_add("foot", "foot feet ft voet pied pieds 英尺")
_add("inch", "inch inches zoll pouce pouces 英寸")
_add("yard", "yard yards yd yds")
_add("kg", "kg kgs kilo kilos kilogram kilograms kilogramm kilogramme kilogrammes 公斤 千克")
_add("g", "g gram grams gramm gramme grammes 克")
_add("mg", "mg milligram milligrams milligramm milligramme milligrammes 毫克")
_add("ounce", "oz ounce ounces")
_add("lb", "lb lbs")
_add("tonne", "ton tons tonne tonnes tonnen 吨")
_add(None, "pound pounds degree degrees graden grad degrés 度")
_add("l", "l liter liters litre litres 升")
_add("ml", "ml milliliter milliliters millilitre millilitres 毫升")
_add("gallon", "gallon gallons gal")
_add("hectare", "ha hectare hectares hektar 公顷")
_add("acre", "acre acres")
_add("km/h", "kmh kph km/h")
_add("mph", "mph")
_add("°C", "°c ºc celsius ℃ 摄氏度")
_add("°F", "°f ºf fahrenheit ℉")
_add("W", "w watt watts")
_add("kW", "kw kilowatt kilowatts")
_add("MW", "mw megawatt megawatts")
_add("kWh", "kwh")
_add("Hz", "hz hertz")
_add("KB", "kb kilobyte kilobytes")
_add("MB", "mb megabyte megabytes")
_add("GB", "gb gigabyte gigabytes")
_add("TB", "tb terabyte terabytes")
_add("calorie", "cal cals calorie calories kcal kcals calorieën kalorien 卡路里")
_add("USD", "$ usd us$ dollar dollars 美元")
_add("EUR", "€ eur euro euros 欧元 歐元")
_add("GBP", "£ gbp sterling 英镑")
_add("CNY", "cny rmb yuan 元 人民币")
_add("JPY", "jpy yen 日元 円")
_add("INR", "₹ inr rupee rupees")
_add("CHF", "chf")
_add(None, "¥")

BEFORE_UNIT: dict[str, str] = {
    "square": "²",
    "sq": "²",
    "vierkante": "²",
    "cubic": "³",
    "kubieke": "³",
}
"""Words before a unit that make it one of area or volume."""
GLUED = listed(
    "km m cm mm kg g mg lb lbs oz l ml ha ft mi mph kmh kph yd kw mw w kwh hz kb mb gb tb s "
    "ms sec min mins hr hrs yr yrs yo kcal cal usd eur gbp"
)
"""Units that stand against their number without a space."""
CURRENCY_BEFORE: dict[str, str | None] = {
    "$": "USD",
    "us$": "USD",
    "usd": "USD",
    "€": "EUR",
    "eur": "EUR",
    "£": "GBP",
    "gbp": "GBP",
    "₹": "INR",
    "inr": "INR",
    "cny": "CNY",
    "rmb": "CNY",
    "jpy": "JPY",
    "chf": "CHF",
    "¥": None,
}

SCALES: dict[str, int] = {
    "hundred": 2,
    "honderd": 2,
    "hundert": 2,
    "thousand": 3,
    "duizend": 3,
    "tausend": 3,
    "mille": 3,
    "k": 3,
    "千": 3,
    "万": 4,
    "萬": 4,
    "lakh": 5,
    "million": 6,
    "millions": 6,
    "miljoen": 6,
    "millionen": 6,
    "mln": 6,
    "mio": 6,
    "mn": 6,
    "百万": 6,
    "crore": 7,
    "亿": 8,
    "億": 8,
    "billion": 9,
    "billions": 9,
    "bn": 9,
    "b": 9,
    "miljard": 9,
    "milliard": 9,
    "milliards": 9,
    "milliarde": 9,
    "milliarden": 9,
    "mrd": 9,
    "trillion": 12,
    "trillions": 12,
    "tn": 12,
    "biljoen": 12,
    "billionen": 12,
    "万亿": 12,
}
"""Powers of ten by the lower-case word or sign after a number written in digits."""
