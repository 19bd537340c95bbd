"""Refusals in Dutch."""

from __future__ import annotations

from ragauge.text.refusals.rules import Sheet

_WORDS = {
    "no": "niet|niets|geen|nergens|nooit|geenszins|onvoldoende|weinig|nauwelijks",
    "given": "gegeven|verstrekte|beschikbare|aangeleverde|meegeleverde|gevonden|bovenstaande"
    "|aangeboden|opgehaalde|relevante|bijgevoegde|geciteerde|genoemde|huidige|onderhavige"
    "|geraadpleegde|verschafte|aanwezige|voorliggende|beperkte",
    "page": "documenten|document|documentatie|context|passages?|teksten|tekst|fragmenten|fragment"
    "|bronnen|bron|artikelen|artikel|alinea's?|stukken|bronteksten|brontekst|zoekresultaten"
    "|kennisbank|tekstfragmenten|bronmateriaal|uittreksels?",
    "paper": "informatie|gegevens|data|inhoud|materiaal|verslag|rapport|resultaten|bestanden"
    "|pagina's?|contract|stukken|dossier|archiefstukken",
    "the": "de|het|deze|dit|die|dat|jouw|uw|mijn|onze|alle|elk van de|geen van de|een van de",
    "documents": "{the} (?:[\\w-]{1,20} )?(?:{page})(?: \\d+)?|(?:{given}) (?:{page})|context"
    "|passages?(?: \\d+)?|(?:{the} )?(?:{given}) (?:{paper})"
    "|{the} (?:{paper}) (?:die|dat|waarover|waar) {g4} (?:heb|hebt|heeft|kreeg|gekregen|beschik"
    "|beschikken|beschikbaar)",
    "tells": "bevat|bevatten|vermeldt|vermelden|noemt|noemen|zegt|zeggen|geeft|geven|staat|staan"
    "|biedt|bieden|beschrijft|beschrijven|specificeert|specificeren|beantwoordt|beantwoorden"
    "|bespreekt|bespreken|behandelt|behandelen|meldt|melden|vertelt|vertellen|toont|tonen"
    "|verklaart|verklaren|verduidelijkt|verduidelijken|bieden|omvat|omvatten|gaat|gaan|gewag"
    "|maakt|maken|rept|reppen|verschaft|verschaffen|verstrekt|verstrekken|duidelijk"
    "|duidelijkheid|uitsluitsel|spreekt|spreken|legt|leggen|gaat in|definieert"
    "|laat|laten|onthult|onthullen|benoemt|benoemen|zwijgt|zwijgen|helpt|beschikt",
    "told": "vermeld|genoemd|gezegd|gegeven|beschreven|gespecificeerd|beantwoord|besproken|gevonden"
    "|behandeld|gemeld|verteld|opgenomen|aangegeven|bekend|duidelijk|terug te vinden|te vinden"
    "|te lezen|te halen|af te leiden|op te maken|beschikbaar|vastgesteld|bepaald|toegelicht"
    "|uitgelegd|afgeleid|aanwezig|verstrekt|verduidelijkt|gedefinieerd|gerept|ingegaan|verklaard"
    "|weergegeven|achterhaald|nader|te beantwoorden|te bepalen|te zeggen|teruggevonden|opgehelderd",
    "info": "informatie|gegevens|details?|antwoord|aanwijzingen?|vermelding|uitleg|data|context"
    "|kennis|verwijzing|bijzonderheden|uitsluitsel|duidelijkheid|inlichtingen|beschrijving|idee",
    "do_it": "beantwoorden|zeggen|vinden|geven|bepalen|vaststellen|vertellen|afleiden|opmaken"
    "|achterhalen|bevestigen|helpen|antwoorden|verstrekken|beoordelen|noemen|terugvinden|bieden"
    "|nagaan|aangeven|uitsluiten|antwoord|doen|inschatten|concluderen|reageren|ontkennen|halen"
    "|berekenen|verifieren|weten|leveren|beschrijven|uitleggen|specificeren|adviseren|aanbevelen",
    "which": "wanneer|wie|wat|hoe|hoeveel|waarom|waarmee|waardoor|of|welke?|door wie",
    "i": "ik|we|wij",
    "sorry": "helaas|sorry|het spijt me|mijn excuses|excuses|excuus|jammer genoeg",
    "from": "in|uit|door|volgens|op basis van|op grond van|aan de hand van|vanuit|binnen|met"
    "|via|bij",
}

SHEET = Sheet(
    words=_WORDS,
    cues="niet|geen|nergens|onbek|onvold|onduid|ontbre|onmogel|zwijg|nvt|n.v.t",
    whole=[
        r"onbekend|nvt|n\.v\.t|onbeantwoordbaar|onduidelijk|niet (?:{told}|van toepassing|zeker)",
        "geen (?:antwoord|idee|informatie|gegevens|resultaten?|data)(?: gevonden| beschikbaar"
        "| bekend| mogelijk)?",
        "(?:staat |komt )?niet {from} {documents}(?: {told})?",
        "weet ik niet|geen flauw idee|weet niet|onvoldoende informatie",
    ],
    needs={
        "the documents do not tell": "document|context|passage|tekst|fragment|bron|artikel|alinea"
        "|stuk|resultaten|kennisbank|uittreksel|informatie|gegevens|data|inhoud|materiaal|verslag"
        "|rapport|bestand|pagina|contract|dossier",
        "no information": "informatie|gegevens|detail|antwoord|aanwijzing|vermelding|uitleg|data"
        "|context|kennis|verwijzing|bijzonderheden|uitsluitsel|duidelijkheid|inlichting"
        "|beschrijving|idee|aanknoping",
        "says that it does not know": "_ik_|we_|wij_|weet|mijn|onze|mij_",
        "says that it cannot answer": "kan|kun|kon|vraag|mogelijk|antwoord|valt|mag_|beantwoord",
        "something is not told": "vermeld|noem|specif|beschr|bespro|aangeg|beschik|gegeven"
        "|opgenomen|toegel|uitgel|gevonden|niet|nergens|niets",
        "something is not known": "bekend|duidelijk|zeker|ongewis|zegg|bepa|weet|vastgesteld"
        "|beantwoord|achterhaald",
    },
    refuses={
        "the documents do not tell": [
            "{documents}{g5} (?:{tells}){g7} (?:{no})",
            "{documents}{g5} (?:{no}){g5} (?:{tells}|{told})",
            "(?:{tells}) {documents}{g3} (?:{no})|{from} {documents}{g2} (?:{no})",
            "(?:{no}){g7} (?:{told}|staat|staan|voor|voorkomt|voorkomen){g4} {from} {documents}",
            "(?:{no}){g4} {from} {documents}{g3} (?:{told}|staat|staan|voor|voorkomt)",
            "(?:staat|staan|komt|is|zijn|wordt|worden|kan|valt|vind|vinden){g6} (?:{no}){g3}"
            " {from} {documents}",
            "(?:geen|niets) {from} {documents}|geen van {documents}|nergens {from} {documents}",
            "{documents}{g4} (?:zwijgt|zwijgen|ontbreekt|ontbreken|ontbreekt het)",
            "{documents}{g14} (?:ze|zij|het|deze|dit|die)(?: {tells}{g4} (?:{no})"
            "| {g3} (?:{no}){g3} (?:{tells}|{told}))",
            "{documents}{g14} (?:{tells}) (?:ze|zij|het|deze|die){g4} (?:{no})",
            "(?:onduidelijk|onbekend|onmogelijk){g5} {from} {documents}",
            "{from} {documents}{g4} (?:onduidelijk|onbekend|onmogelijk)",
            "ontbreekt{g5} {from} {documents}|{from} {documents} ontbreekt",
            "buiten (?:het bereik|de reikwijdte|de strekking|het bestek) van {documents}",
        ],
        "no information": [
            "(?:er|daar|hier)(?:over|van|voor|om)? (?:is|zijn|was|waren|wordt|worden|staat|bestaat"
            "|ontbreekt|bestaan){g3} (?:{no}){g3} {info}",
            "(?:geen|onvoldoende|niet genoeg|niet voldoende|te weinig) (?:[\\w-]{1,20} ){0,3}?"
            "(?:{info}){g6} (?:{told}|over|om|voor|bekend|beschikbaar)",
            "(?:geen|onvoldoende|niet genoeg|niet voldoende|te weinig) (?:[\\w-]{1,20} ){0,2}?"
            "(?:informatie|gegevens|context|aanknopingspunten)",
            "gebrek aan (?:[\\w-]{1,20} ){0,2}?(?:{info})",
            "(?:deze|die|dat|de|dit|zulke|het|specifieke|exacte) (?:[\\w-]{1,20} ){0,2}?"
            "(?:informatie|gegevens|details|antwoord){g4} (?:{no}){g3} (?:{told})",
            "(?:informatie|antwoord|gegevens|details){g4} (?:ontbreekt|ontbreken)",
        ],
        "says that it does not know": [
            "(?:dat|dit|het|daar)? ?(?:weet|weten) {i}{g4} niet|{i} (?:weet|weten){g6} niet"
            "|niet weet",
            "{i} (?:heb|hebben|beschik|beschikken|vind|vond|vinden|zie|bezit|ken|vonden){g5}"
            " (?:geen|niet|niets|onvoldoende|nergens)",
            "(?:heb|hebben|beschik|beschikken|vind|vond|vinden|zie|kon|vonden) {i}{g5} (?:geen"
            "|niet|niets|onvoldoende|nergens)",
            "(?:geen|onvoldoende|niet voldoende|niet genoeg){g4} (?:heb|beschik|vind|ken|vinden)",
            "{i} (?:ben|zijn){g3} niet (?:zeker|bekend|op de hoogte|in staat|zeker van)",
            "(?:ben|zijn) {i}{g3} niet (?:zeker|bekend|op de hoogte|in staat)",
            "buiten (?:mijn|onze) (?:kennis|bereik|kennisgebied|expertise)",
            "mij (?:is|zijn){g4} (?:niet bekend|niets bekend|geen)|is mij niet bekend",
        ],
        "says that it cannot answer": [
            "{i} (?:kan|kunnen|kon|konden|mag){g8} (?:niet|niets|geen|nergens){g5} {do_it}",
            "(?:kan|kunnen|kon|konden|mag) {i}{g8} (?:niet|niets|geen|nergens){g5} {do_it}",
            "{i}{g6} (?:niet|geen|niets){g3} (?:kan|kunnen|kon) {do_it}",
            "(?:niet|geen antwoord|geen{g3}) (?:kan|kunnen) (?:worden )?{do_it}",
            "(?:vraag|antwoord|dit|dat|het){g8} niet{g5} (?:worden|te) (?:{do_it}|{told})",
            "(?:kan|kon|valt|is|kunnen){g8} niet{g6} (?:worden )?(?:{told}|{do_it}){g3} {from}"
            " {documents}",
            "{from} {documents}{g8} niet{g4} (?:{told}|{do_it}|worden)",
            "(?:het is|is het) (?:niet mogelijk|onmogelijk){g6} te (?:{do_it})",
            "(?:vraag|dit|dat){g3} (?:is )?(?:niet te beantwoorden|onbeantwoordbaar|niet"
            " beantwoordbaar)",
            "geen antwoord (?:geven|mogelijk|te geven|op geven)",
            "niet mogelijk (?:om )?{g6} te (?:{do_it})",
        ],
    },
    may_refuse={
        "something is not told": [
            "(?:staat|staan|vind|lees|vinden|blijkt|valt|is|zijn){g3} (?:niets|nergens|niet){g3}"
            " (?:over|{told})",
            "(?:staat|staan|lees|blijkt){g3} (?:nergens,? (?:{which}|waar)|niet,? (?:{which}))",
            "(?:wordt|worden|is|zijn|werd|staat|was){g4} (?:niet|nergens){g3} (?:vermeld|genoemd"
            "|gespecificeerd|beschreven|besproken|aangegeven|beschikbaar|gegeven|opgenomen"
            "|toegelicht|uitgelegd|gevonden)",
            "niet (?:nader )?(?:vermeld|gespecificeerd|genoemd|aangegeven)",
            "(?:vermeldt|noemt|specificeert){g4} (?:niet|geen)",
        ],
        "something is not known": [
            "(?:is|zijn|blijft|was|waren|blijven){g4} (?:onbekend|onduidelijk|onzeker|ongewis)",
            "(?:is|zijn|was|waren|wordt|werd){g4} niet (?:bekend|duidelijk|zeker|te zeggen)",
            "niemand weet|moeilijk te (?:zeggen|bepalen|beantwoorden)|niet zeker",
            "kan{g6} niet{g4} worden (?:vastgesteld|bepaald|gezegd|beantwoord|achterhaald)",
        ],
    },
    about_documents=[
        "(?:{page}|{paper})",
        "(?:vermeldt|vermelden|noemt|noemen|bevat|bevatten|staat er|specificeert|genoemd|vermeld)",
    ],
    preface=["(?:{from}|gezien|gelet op|afgaand op|na lezing van) {documents}"],
    lead=[
        "echter|maar|daarom|dus|helaas|sorry|bovendien|ook|verder|wel|overigens|kortom|toch"
        "|antwoord|conclusie|samengevat|let op|desondanks|niettemin|daarnaast|jammer genoeg|en"
        "|hallo|beste|tja|nou|opmerking|claim|wat dat betreft|kort gezegd|hierdoor",
    ],
    aside=[
        "(?:het )?spijt (?:me|mij|ons)|mijn excuses|excuses|excuus|onze excuses|neem me niet",
        "(?:als|indien|mocht|mochten|wanneer) (?:u|je|jij|er|dit|meer|iemand)",
        "laat (?:het )?(?:me|mij|ons)|raadpleeg|neem contact|neem (?:dan )?(?:gerust )?contact"
        "|probeer|bekijk|controleer|kijk|zie|vraag|bezoek|ga naar|aarzel|bel|stel gerust|geef",
        "(?:u|je|jij)(?: kunt| kan| zou| moet| zult)(?: het best| beter| best| eventueel"
        "| misschien| ook| wellicht| dan| hiervoor| daarvoor| altijd| contact| proberen| de"
        "| het| een| op| bij)*",
        "(?:kunt|kan|wilt|wil|zou|heeft|heb) (?:u|je|jij)",
        "{i} (?:raad|adviseer|kan|help|stel voor|hoop|zou|wil|beveel|suggereer|heb alleen"
        "|beschik alleen|help je|help u|verwijs)",
        "(?:kan|zal|mag) {i} (?:u|je|nog|verder|ergens)",
        "(?:voor|om) (?:meer|verdere|nadere|dit|deze|actuele|specifieke|die|een|de|het|dat)",
        "(?:meer|aanvullende|verdere|extra|nadere|andere) (?:informatie|context|gegevens|details"
        "|bronnen|documenten)",
        "het is (?:raadzaam|aan te raden|verstandig|beter|het beste|aanbevolen|handig)",
        "(?:hoewel|terwijl|ofschoon|al)? ?{documents}{g3} (?:alleen|vooral|voornamelijk|wel|slechts"
        "|hoofdzakelijk|enkel)? ?(?:gaat|gaan|behandelt|behandelen|bespreekt|bespreken|beschrijft"
        "|beschrijven|richt|richten|heeft betrekking|hebben betrekking|betreft|betreffen|noemt"
        "|noemen|vermeldt|vermelden|handelt|handelen|gericht)(?! dat)",
        "(?:hoewel|terwijl)? ?{documents}{g2} (?:bevat|bevatten|geeft|geven|biedt|bieden)"
        " (?:alleen |wel |slechts |enkel |vooral )*(?:algemene |wat |enige "
        "|beperkte )?(?:informatie"
        "|gegevens|details|een overzicht)",
        "(?:ze|zij|het|deze|dit|er) (?:gaat|gaan|behandelt|behandelen|bespreken|beschrijven"
        "|wordt|worden)? ?(?:alleen|vooral|slechts|enkel|voornamelijk)",
        "(?:de|deze|uw|je|jouw) vraag (?:is|gaat|vraagt|betreft|luidt|heeft)",
        "(?:{from}) {documents}$|{documents}$",
        "(?:bronnen|bron|citaten|vraag|toelichting|referenties)(?:$| ?:)",
        "dank|bedankt|graag|veel succes|is er (?:nog )?(?:iets|een)|hopelijk",
    ],
    contrast=["maar|echter|hoewel|al|wel(?= )|niettemin|toch|behalve dat|doch|ofschoon"],
    concession=["hoewel|terwijl|ofschoon|ondanks|al|afgezien|behalve"],
    yes_or_no=["ja|nee|neen|juist|klopt|inderdaad"],
    asks_back=[
        "(?:bedoel|bedoelt|bedoelde) (?:u|je|jij)|(?:welke|welk|wat|wie|waar){g5} (?:bedoel"
        "|bedoelt|doel|doelt|zoek|zoekt|wil|wilt|heb|heeft) (?:u|je|jij)",
        "(?:kunt|kun|kan|wilt|wil|zou) (?:u|je|jij){g8} (?:verduidelijken|specificeren|toelichten"
        "|aangeven|preciseren|uitleggen|preciezer|concreter|specifieker|verduidelijking)",
        "(?:gaat het|vraagt u|vraag je|heeft u het|heb je het|hebt u het){g2} (?:over|om|naar)",
        "(?:welke|welk) (?:[\\w-]{1,20} )?(?:bedoel|bedoelt|precies|exact)",
        "(?:geef|specificeer|verduidelijk|graag){g4} (?:aan|meer context|meer informatie|welke"
        "|uw vraag|je vraag)",
    ],
    several=[
        "er (?:zijn|bestaan) (?:veel|meerdere|verschillende|enkele|diverse|twee|drie|meer dan)",
        "bijvoorbeeld",
        "u (?:kunt|zou) {g3} bedoelen",
    ],
)
