"""What `order` knows of each language's sentences."""

from __future__ import annotations

from msgspec import Struct

from ragauge.text.jitters.lexicons import words


class Grammar(Struct, frozen=True, kw_only=True):
    """Words by what they do in a question. What a language does not have stays empty."""

    manners: str
    """A pattern of the clauses that say how to answer: `with citations`, `in one sentence`."""
    joint: str = r",? (?:and |en |und |et )?"
    """A pattern of what parts two such clauses."""
    chooses: frozenset[str] = frozenset()
    """They ask which of two: `Which opened first, the Prado or the Louvre?`"""
    either: str = ""
    colon: str = ":"
    joins: tuple[str, ...] = ()
    """They open a clause that may stand at either end: `now that …`."""
    asides: tuple[str, ...] = ()
    """They open a phrase that may stand at either end: `according to …`."""
    articles: frozenset[str] = frozenset()
    owners: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    """They ask for a time, a place or a manner alone: `when`."""
    leads: frozenset[str] = frozenset()
    """They open a phrase of time or place: `in which year`."""
    asks: frozenset[str] = frozenset()
    """The second word of such a phrase."""
    who: frozenset[str] = frozenset()
    be: frozenset[str] = frozenset()
    done: str = ""
    """A pattern of participles."""
    alone: frozenset[str] = frozenset()
    """Verbs with no object, so that what follows is their subject: `begon`."""
    holds: frozenset[str] = frozenset()
    """Verbs whose subject holds what is counted: `Hoeveel boeken bezit de KB?`"""
    bars: frozenset[str] = frozenset()
    """Words that make a noun phrase more than that, so that it is left where it is."""
    relatives: frozenset[str] = frozenset()
    """Words that open a clause of their own, within which nothing is moved."""
    verb_last: bool = False
    """The participle stands at the end: `werd in 1800 geopend`."""
    trails: frozenset[str] = frozenset()
    """Prepositions: a noun phrase does not end in them."""
    capital_nouns: bool = False
    """Every noun has a capital, so that no noun ends what ends in a small word: `begraben`."""


_EN_DONE = (
    r"(?!need|seed|speed|hundred)\w{3,}ed|(?:re|over|under|un|with|up|fore|mis)?(?:"
    "made|built|kept|held|brought|sold|bought|found|set|put|chosen|written|given|lost|won|sent|"
    "taken|shown|drawn|born|borne|stolen|broken|spoken|frozen|driven|hidden|eaten|beaten|fallen|"
    "shaken|proven|woven|sewn|known|grown|thrown|blown|flown|worn|torn|sworn|seen|done|gone|begun|"
    "run|sung|sunk|rung|hung|stuck|struck|dug|spun|bound|wound|bred|fed|led|met|shot|left|dealt|"
    "meant|spent|lent|bent|burnt|learnt|cut|hit|hurt|shut|split|spread|cast|caught|fought|sought|"
    "taught|thought|told|heard|paid|said|laid|lit|forgotten|come|become|stood|gotten|got|forbidden|"
    "forgiven|read|felt|lain|risen|ridden|trodden|shorn|cleft|slain|swept|wept)"
)

_EN = Grammar(
    manners=(
        r"with(?:out)? (?:citations?|sources?|references?|footnotes?|examples?|links?|jargon)"
        r"|in (?:one|two|three|four|five|a few|a single|at most \w+|\d+) "
        r"(?:sentences?|words?|paragraphs?|lines?|bullet points)"
        r"|in (?:detail|brief|full|plain words|simple words|bullet points)"
        r"|as a (?:bullet |numbered )?(?:list|table)|step by step"
    ),
    chooses=words("which who what"),
    either="or",
    joins=("now that", "given that", "if", "because", "although", "once", "while", "as long as"),
    asides=("compared with", "compared to", "according to"),
    articles=words("the a an its this"),
    places=words("when where how"),
    leads=words("in on at"),
    asks=words("which what"),
    who=words("who what"),
    be=words("is are was were"),
    done=_EN_DONE,
    bars=words(
        "which what who whom whose that where when why how before after during like doing to by "
        "with matter weather point than not"
    ),
    relatives=words("which what who whom whose that where when why how"),
    trails=words("for of in at on from about under into"),
)

_NL = Grammar(
    manners=(
        r"met (?:bronvermelding(?:en)?|bronnen|verwijzingen|citaten|voorbeelden)"
        r"|zonder (?:jargon|voorbeelden|bronnen)"
        r"|in (?:één|een paar|enkele|twee|drie|vier|vijf|hooguit \w+|\d+) "
        r"(?:zin|zinnen|woorden|alinea|alinea's|regels)"
        r"|in (?:detail|het kort|eenvoudige woorden)|als (?:lijst|tabel)|stap voor stap"
    ),
    chooses=words("welk welke wie wat"),
    either="of",
    joins=("nu", "als", "omdat", "hoewel", "aangezien", "terwijl", "zolang"),
    asides=("volgens", "vergeleken met", "in vergelijking met"),
    articles=words("de het een dit deze"),
    owners=words("zijn haar hun"),
    places=words("wanneer waar"),
    leads=words("in uit op bij sinds"),
    asks=words("welk welke wanneer"),
    who=words("wie"),
    be=words("is zijn was waren wordt worden werd werden"),
    done=r"(?:ge|be|ver|ont|her|vol|af|over|op|uit|in|aan)\w+(?:d|t|en)",
    alone=words(
        "opende openden begon begonnen ontstond ontstonden staat staan stond stonden ligt liggen "
        "lag lagen hangt hangen hing hingen verscheen verschenen sloot overleed stierf"
    ),
    holds=words("bewaart bezit heeft telt beheert omvat"),
    bars=words(
        "door naar met na voor tijdens weer opnieuw nu toen al nog er men niet ook eerst om aan "
        "op uit over bij tot die dat waar waarin waarop waarvan zich dan als wie wat hij zij ze "
        "ter ten te open klaar vroeger destijds tegenwoordig momenteel ooit oorspronkelijk later "
        "vandaag precies eigenlijk daarna nooit altijd hier daar af mee toe neer terug weg vrij "
        "bekend kwijt vast vanaf vandaan heen"
    ),
    verb_last=True,
    trails=words("van in"),
)

_DE = Grammar(
    manners=(
        r"mit (?:Quellen|Quellenangaben|Belegen|Beispielen|Verweisen)"
        r"|ohne (?:Fachbegriffe|Beispiele|Quellen)"
        r"|in (?:einem|zwei|drei|vier|fünf|wenigen|\d+) "
        r"(?:Satz|Sätzen|Worten|Absatz|Absätzen|Zeilen)"
        r"|als (?:Liste|Tabelle)|Schritt für Schritt"
    ),
    chooses=words("welcher welche welches wer was"),
    either="oder",
    asides=("laut", "gemäß"),
    articles=words("der die das ein eine"),
    owners=words("seinen seine sein ihren ihre ihr"),
    places=words("wann wo"),
    leads=words("in an seit"),
    asks=words("welchem welcher wann"),
    who=words("wer"),
    be=words("ist sind war waren wird werden wurde wurden"),
    done=r"(?:ge|be|ver|er|ent|zer|auf|ab|an|ein|aus|um|wieder)\w+(?:t|en)",
    alone=words("begann begannen entstand entstanden steht stehen liegt liegen hängt hängen"),
    bars=words(
        "von vom durch nach mit für wieder nun noch nicht auch erst um aus über bei bis "
        "sich als wer was er sie es man an auf zu zum zur im am vor unter seit "
        "dem den einem einen ihm ihnen mir dir uns euch"
    ),
    verb_last=True,
    trails=words("in des der"),
    capital_nouns=True,
)

_FR = Grammar(
    manners=(
        r"(?:avec|sans) (?:citations?|sources?|références|exemples|jargon)"
        r"|en (?:une|deux|trois|quatre|cinq|quelques|\d+) (?:phrases?|mots|lignes|paragraphes?)"
        r"|en (?:détail|bref)|sous forme de (?:liste|tableau)|étape par étape"
    ),
    chooses=words("quel quelle lequel laquelle qui"),
    either="ou",
    colon=" :",
    joins=("puisque", "si", "bien que", "maintenant que", "étant donné que"),
    asides=("selon", "d'après", "par rapport à"),
    articles=words("le la les un une"),
)

_ZH = Grammar(
    manners=(
        r"(?:并)?附(?:上)?(?:引用|出处|来源|例子)|用(?:一|两|三|几|\d+)句话|"
        r"分步骤|用(?:列表|表格)(?:形式)?|简要地?|详细地?"
    ),
    joint="[，、]",
    chooses=words("哪个 哪一个 哪座 哪家 谁"),
    either="还是",
    colon="，",
)

GRAMMARS = {"en": _EN, "nl": _NL, "de": _DE, "fr": _FR, "zh": _ZH}
