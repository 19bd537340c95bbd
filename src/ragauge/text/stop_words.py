"""Stop words: those that hold a sentence together and say nothing alone, in five languages.

Three kinds of small words are left in the text on purpose, because an answer can be wrong by
them alone: negations (not, niet, ohne, 不), numbers, and words of quantity or degree (all, only,
more, most). So are words that case folding confuses with something that tells: `may` and the
month, `us` and the country, French `eu` and the union.
"""

from __future__ import annotations

from typing import Literal

Language = Literal["en", "nl", "de", "fr", "zh"]

_EN = """
    a about above across after again against ago along already also although am among amongst an and
    another anyhow are around as at away be because been before behind being below beneath beside
    besides between both but by can could d did do does doing done down during eg either else etc
    even ever for from further furthermore get gets getting given got had has have having he hence
    her here hers herself him himself his how however i ie if in indeed instead into is it its
    itself just let like ll m made make makes me meanwhile might moreover must my myself namely of
    off on onto or other others otherwise ought our ours ourselves out over own per perhaps quite
    rather re really s same shall she should since so somehow someone something such t than that the
    their theirs them themselves then there thereby therefore these they this those though through
    throughout thus to together too toward towards under until up upon used ve very via was we well
    were what whatever when where whereas wherein whether which whichever while who whoever whom
    whose why will with within would yet you your yours yourself yourselves
"""
_NL = """
    aan achter af al aldus alhoewel als alsmede alsof alsook ander andere anders beide ben bent bij
    bijvoorbeeld binnen boven bovendien d daar daarbij daardoor daarmee daarna daarnaast daarom
    daarop daarvan daarvoor dan dat de degene den der deze dezelfde die dit doch doen doet door dus
    echter een eens eigen en er erg evenals eveneens had hadden heb hebben hebt heeft heel hem hen
    het hetgeen hetzelfde hier hierbij hierdoor hij hoe hoewel hun iemand iets ik in indien is je
    jij jou jouw jullie kan kon konden kunnen langs maar mag me mede men met mij mijn mocht moest
    moesten moet moeten mogen na naar naast nadat namelijk net nog nu of ofwel om omdat onder ons
    onze ook op opdat over overigens per reeds rond s sinds t te tegen ten ter terug terwijl tevens
    tijdens toch toe toen tot tussen u uit uw van vanaf vanuit vanwege via voor vooral voordat waar
    waarbij waardoor waarin waarmee waarom waarop waaruit waarvan want waren was wat we wegens wel
    welk welke werd werden wie wiens wier wij wil willen word worden wordt zal ze zelf zelfs zich
    zij zijn zo zoals zodat zou zouden zowel zulk zulke zullen
"""
_DE = """
    ab aber als also am an andere anderen anderer anderes ans auch auf aus außerdem bei beide beiden
    beim bereits besonders bevor bin bis bist bzw da dabei dadurch dafür dagegen daher damals damit
    danach dann daran darauf daraus darin darum darüber das dass dasselbe davon davor dazu
    dazwischen daß dein deine deinem deinen deiner dem den denen denn dennoch der deren derselbe des
    deshalb dessen die dies diese dieselbe diesem diesen dieser dieses doch dort du durch durfte
    dürfen ebenfalls ebenso ein eine einem einen einer eines er es etwa etwas euch euer eure für
    gegen gewesen hab habe haben hat hatte hatten hier hierbei hierzu hin hinter hätte hätten ich
    ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins ist jedoch jene jenem jenen jener
    jenes kann kannst können könnte könnten man mein meine meinem meinen meiner mich mir mit mittels
    muss musste mussten muß müssen nach nachdem neben noch nun ob obwohl oder s sehr sein seine
    seinem seinen seiner seines seit seitdem selbst sich sie sind so sobald sodass sogar solche
    solcher soll sollen sollte sollten somit sondern sonst sowie sowohl um und uns unser unsere
    unserem unseren unter vom von vor wann war waren warum was weil weiter welche welchem welchen
    welcher welches wenn wer werde werden wessen wie wieder will wir wird wo wobei wodurch wofür
    wohl wollen womit woran worauf worden wurde wurden während würde würden z zu zudem zum zur zwar
    zwischen über
"""
_FR = """
    a afin ai ainsi alors après as au auprès auquel aura auraient aurait aussi autour autre autres
    aux auxquelles auxquels avaient avais avait avant avec avez avoir avons ayant c car ce ceci
    cela celle celles celui cependant certes ces cet cette ceux chez ci comme comment d dans de
    depuis derrière des desquels dessous dessus devait devant donc dont du duquel durant dès déjà
    elle elles en encore enfin ensuite entre envers es est et eux furent fut ici il ils j je jusqu
    jusque l la laquelle le lequel les lesquelles lesquels leur leurs lors lorsqu lorsque lui là m
    ma mais malgré me mes moi mon même mêmes nos notre nous on ont ou outre où par parce parmi
    pendant peut peuvent pour pourquoi pourrait pouvait puis puisqu puisque qu quand quant que
    quel quelle quelles quels qui quoi quoique s sa se selon sera seraient serait seront ses si
    soi soient soit sommes son sont sous suis sur t ta tandis te tel telle telles tels tes toi ton
    tu un une va vers voici voilà vont vos votre vous vu y à étaient étais était étant étiez été
    êtes être
"""
_ZH = """
    的 了 着 是 在 和 与 與 及 或 但 而 且 并 並 也 就 还 還 又 再 把 被 让 讓 给 給 向 从 從 由 对
    對 于 於 以 为 為 因 之 其 这 這 那 哪 此 该 該 某 个 個 们 們 我 你 妳 您 他 她 它 牠 祂 咱 谁
    誰 吗 嗎 呢 吧 啊 呀 哇 嘛 哦 喔 么 麼 得 很 将 將 即 如 虽 雖 然 等 跟 另 亦 乃 曾 已 啦 嗯 罢
    罷 倘 况 況 故 乎 焉 矣 者
"""

_WRITTEN: dict[Language, str] = {"en": _EN, "nl": _NL, "de": _DE, "fr": _FR, "zh": _ZH}
STOP_WORDS: dict[Language, frozenset[str]] = {
    language: frozenset(listed.casefold().split()) for language, listed in _WRITTEN.items()
}
"""In the form of `words`: case-folded, so with "ss" for "ß"; pieces of contractions (s, re, qu)
stand among them."""

_TELLING_ELSEWHERE = """
    ai al ben bent bin car comment dan dans den die dies dont door es fut hat heel hem hen hin hoe
    hun lui mag man men mes met net nun par pendant pour reeds rond son sous tel ten toe ton tot
    vers want war wer wil wo word
"""
"""Stop words of one language that tell much in another: German `war` and `hat`, Dutch `door` and
`word`, French `car` and `son` are English nouns; `die` is a verb, `ten` a number; Dutch `tot` is
German for dead. Where the language is unknown, a stop word left in costs less than a telling
word thrown out."""
_SAFE = frozenset().union(*STOP_WORDS.values()) - frozenset(_TELLING_ELSEWHERE.split())


def listed(written: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(written.split())


def stop_words(language: Language | None) -> frozenset[str]:
    """The stop words of a language; for None, those of all five that tell nothing in any.

    >>> "war" in stop_words("de"), "war" in stop_words(None), "und" in stop_words(None)
    (True, False, True)
    """
    return _SAFE if language is None else STOP_WORDS[language]
