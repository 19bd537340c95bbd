"""Refusals in German; umlauts are folded to their bare letters, ß to s."""

from __future__ import annotations

from ragauge.text.refusals.rules import Sheet

_WORDS = {
    "no": "nicht|nichts|kein|keine|keinen|keinem|keiner|keinerlei|keines|nirgends|nirgendwo"
    "|unzureichend|ungenugend|wenig|kaum",
    "none": "kein|keine|keinen|keinem|keiner|keinerlei|keines|nicht genug|nicht genugend|nicht"
    " ausreichend|zu wenig|unzureichende|ungenugende|nicht genugende|nicht ausreichende|zu wenige"
    "|nicht die|nicht uber",
    "page": "dokumente|dokumenten|dokument|dokuments|dokumentation|kontext|kontexts|kontextes"
    "|passagen?|texte?s?|texten|textpassagen?|auszuge?n?|auszug|quellen?|artikels?|artikeln"
    "|abschnitte?n?|unterlagen|textstellen?|ausschnitte?n?|suchergebnisse?n?|wissensdatenbank"
    "|quelltexte?n?|materialien|absatze?n?|textabschnitte?n?|textauszuge?n?|fundstellen?",
    "paper": "informationen|information|daten|angaben|inhalte?n?|material|berichte?n?|bericht"
    "|ergebnisse?n?|dateien|seiten|seite|akten|vertrag|eintrage",
    "given": "bereitgestellten?|gegebenen?|vorliegenden?|verfugbaren?|angegebenen?|genannten?"
    "|gefundenen?|obigen|zitierten?|relevanten?|angefuhrten?|mitgelieferten?|vorhandenen?"
    "|zur verfugung (?:stehenden|gestellten)|bereitgestelltem|beigefugten?|abgerufenen?|mir"
    " vorliegenden|bereitgestellter|bereitgestellte|vorgelegten|ubermittelten",
    "the": "der|die|das|dem|den|des|dieser|diese|diesem|dieses|diesen|ihren|ihre|deinen|meinen"
    "|meine|unseren|keines der|keine der|keiner der|keinem der|allen|einem der|beide|beiden",
    "documents": "{the} (?:mir )?(?:[\\w-]{1,25} )?(?:{page})(?: \\d+)?|(?:{given}) (?:{page})"
    "|kontext|passage \\d+|dokument \\d+|(?:{the} )?(?:mir )?(?:{given}) (?:{paper})|im kontext"
    "|{the} (?:{paper}),? (?:die|welche) {g5} (?:habe|haben|vorliegen|wurden)",
    "in_documents": "{from} {documents}|(?:im|vom|zum|beim) (?:[\\w-]{1,25} )?(?:{page})",
    "tells": "enthalt|enthalten|erwahnt|erwahnen|nennt|nennen|sagt|sagen|gibt|geben|steht|stehen"
    "|bietet|bieten|beschreibt|beschreiben|spezifiziert|spezifizieren|beantwortet|beantworten"
    "|behandelt|behandeln|geht|gehen|liefert|liefern|erklart|erklaren|macht|machen|zeigt|zeigen"
    "|verrat|umfasst|umfassen|erlautert|erlautern|informiert|informieren|lasst|lassen"
    "|findet|finden|befasst|befassen|thematisiert|thematisieren|stellt|stellen|gehen"
    "|aussert|reicht|reichen|definiert|prazisiert|auflistet|listet|schweigt|schweigen|halt|fehlt"
    "|fehlen|angibt|angeben|eingeht|eingehen|hervorgeht|bereitstellt|bereitstellen|klart|benennt",
    "told": "erwahnt|genannt|gesagt|angegeben|beschrieben|spezifiziert|beantwortet|behandelt"
    "|gefunden|enthalten|aufgefuhrt|bekannt|klar|ersichtlich|zu finden|zu entnehmen|entnehmen"
    "|abzuleiten|ableiten|verfugbar|festgestellt|bestimmt|bestimmen|erlautert|erklart|vorhanden"
    "|hervor|thematisiert|dargelegt|besprochen|ermittelt|ermitteln|beantworten|feststellen"
    "|definiert|dokumentiert|nachzulesen|geklart|eindeutig|naher|prazisiert|angesprochen|finden"
    "|bereitgestellt|sagen|herauslesen|erschliess?en|nachweisbar|vermerkt|aufgelistet"
    "|zu beantworten",
    "info": "informationen|information|angaben?|hinweise?n?|daten|details?|antwort|auskunft"
    "|aussagen?|erwahnung|kenntnis|kenntnisse|wissen|kontext|erklarung|einzelheiten|infos?"
    "|anhaltspunkte",
    "do_it": "beantworten|sagen|finden|geben|bestimmen|feststellen|ermitteln|ableiten|entnehmen"
    "|bestatigen|helfen|antworten|liefern|beurteilen|nennen|machen|herausfinden|mitteilen|antwort"
    "|angeben|bieten|erkennen|schlussfolgern|verifizieren|berechnen|erklaren|einschatzen|tun"
    "|bereitstellen|treffen|weiterhelfen|auskunft|erteilen|wissen|beschreiben|empfehlen|dienen"
    "|vorlegen|ausschliess?en|herleiten|erschliess?en|identifizieren|belegen|dazu",
    "which": "wann|wer|wem|wen|was|wie|wie ?viele?|warum|weshalb|wodurch|ob|welche[rnsm]?",
    "i": "ich|wir|mir|uns",
    "from": "in|im|aus|laut|durch|von|anhand|auf basis|auf grundlage|auf der grundlage"
    "|auf der basis"
    "|gemass?|nach|mit|basierend auf|aufgrund|mithilfe|innerhalb|seitens|unter",
}

SHEET = Sheet(
    words=_WORDS,
    cues="nicht|kein|unbekannt|unklar|unzureich|ungenug|nirgend|_fehl|unmogl|schweig|k._a|k.a",
    whole=[
        r"unbekannt|k\. ?a|unklar|keine ahnung|nicht (?:{told}|anwendbar|sicher)",
        "keine? (?:antwort|angaben?|informationen|information|daten|ergebnisse?|treffer|auskunft)"
        "(?: gefunden| moglich| verfugbar| vorhanden)?",
        "(?:steht )?nicht (?:{from}) {documents}(?: {told})?",
        "(?:das )?weiss? (?:ich )?(?:es )?nicht|unzureichende informationen|nicht beantwortbar",
    ],
    needs={
        "the documents do not tell": "dokument|kontext|passage|text|auszug|auszuge|quelle|artikel"
        "|abschnitt|unterlagen|ausschnitt|ergebnis|datenbank|material|absatz|fundstelle"
        "|information|daten|angaben|inhalt|bericht|datei|seite|akte|vertrag|eintrag",
        "no information": "info|angabe|hinweis|daten|detail|antwort|auskunft|aussage|erwahnung"
        "|kenntnis|wissen|kontext|erklarung|einzelheit|anhaltspunkt|reichen",
        "says that it does not know": "_ich_|wir_|mir_|uns_|meines|weis",
        "says that it cannot answer": "kann|konn|frage|moglich|antwort|lasst|lage|auskunft|darf"
        "|vermag",
        "something is not told": "erwahn|nann|nenn|angegeb|beschr|spezif|aufgef|erlau|verfug"
        "|naher|erklart|dokument|nicht|nirgend",
        "something is not known": "bekannt|klar|wiss|sicher|eindeutig|deutlich|weis|schwer|lasst"
        "|kann|konn",
    },
    refuses={
        "the documents do not tell": [
            "{documents}{g5} (?:{tells}){g7} (?:{no})",
            "{documents}{g6} (?:{no}){g5} (?:{tells}|{told})",
            "(?:{no}){g7} (?:{told}|steht|stehen|erscheint|geht){g4} {in_documents}",
            "(?:{no}){g4} {in_documents}{g4} (?:{told}|steht|stehen|vorkommt)",
            "(?:steht|stehen|ist|sind|wird|werden|kann|findet|finden|finde|geht|gibt|lasst|ergibt"
            "|kommt){g6} (?:{no}){g4} {in_documents}",
            "(?:nichts|keines?|keiner) {in_documents}|(?:keines|keine|keiner) der (?:[\\w-]"
            "{1,25} )?(?:{page})|nirgends {in_documents}",
            "{documents}{g4} (?:schweigt|schweigen|fehlt|fehlen|versaumt)|(?:fehlt|fehlen){g5}"
            " {in_documents}|{in_documents}{g2} (?:fehlt|fehlen)",
            "{documents}{g14} (?:sie|es|er|diese|dieser|dieses)(?: {tells}{g4} (?:{no})"
            "| {g4} (?:{no}){g4} (?:{tells}|{told}))",
            "{documents}{g14} (?:{tells}) (?:sie|es|er|diese|dieser){g4} (?:{no})",
            "(?:{tells}) {documents}{g3} (?:{no})|{in_documents}{g2} (?:{no})",
            "(?:unklar|unbekannt|unmoglich){g6} {in_documents}",
            "{in_documents}{g4} (?:unklar|unbekannt|unmoglich)",
            "(?:nicht|kein) (?:teil|bestandteil|gegenstand) (?:der|des|von) {documents}",
            "auser?s?halb (?:des rahmens|des umfangs|des bereichs)? ?(?:der|des|von) {documents}",
        ],
        "no information": [
            "(?:es|da|dazu|hierzu|daruber|hieruber) (?:gibt|liegen|liegt|finden sich|findet sich"
            "|sind|ist|existieren|stehen){g3} (?:{none}) (?:[\\w-]{1,25} ){0,3}?(?:{info})",
            "(?:es|dazu|hierzu|daruber) (?:fehlen|fehlt){g5} (?:{info})",
            "(?:{none}) (?:[\\w-]{1,25} ){0,3}?(?:{info}){g6} (?:{told}|uber|zu|zur|zum|daruber"
            "|dazu|vor|vorliegen|vorhanden|ob|wann|wer|wie|bezuglich|hinsichtlich|gegeben|gemacht"
            "|hierzu|bereit|um)",
            "(?:{none}) (?:[\\w-]{1,25} ){0,2}?(?:informationen|angaben|information|kontext)",
            "(?:mangel an|mangels|ohne) (?:[\\w-]{1,25} ){0,2}?(?:informationen|angaben)",
            "(?:diese|die|solche|genaue|dieser|der|konkrete) (?:[\\w-]{1,25} ){0,2}?(?:information"
            "|informationen|angaben?|details|daten|antwort){g6} (?:nicht{g3} (?:{told}|vor)"
            "|fehlt|fehlen)",
            "reichen{g5} nicht (?:aus|um)",
        ],
        "says that it does not know": [
            "(?:ich|wir) (?:weiss?|wissen){g6} nicht|(?:weiss?|wissen) (?:ich|wir){g4} nicht"
            "|nicht (?:weiss?|wissen)$",
            "(?:ich|wir) (?:habe|haben|besitze|verfuge|verfugen|finde|fand|finden|sehe|kenne|kenn"
            "|konnte|konnten){g6} (?:{no})",
            "(?:habe|haben|verfuge|verfugen|finde|finden|fand|sehe|konnte|kenne) (?:ich|wir){g6}"
            " (?:{no})",
            "(?:ich|wir){g5} (?:{none}){g5} (?:habe|haben|verfuge|finde|finden|kenne|konnte)",
            "(?:mir|uns) (?:liegen|liegt|ist|sind|fehlen|fehlt|stehen){g4} (?:{no}|die"
            "|informationen"
            "|angaben)|(?:liegen|liegt|ist|sind|fehlen|fehlt|stehen) (?:mir|uns){g5} (?:{no}|die"
            "|informationen)",
            "(?:ich bin|bin ich|wir sind){g2} nicht (?:sicher|in der lage|informiert|im bilde)"
            "|ich bin mir{g2} nicht sicher|(?:ist|sind) mir{g2} nicht bekannt",
            "auser?s?halb meines (?:wissens|kenntnisstands|bereichs)",
        ],
        "says that it cannot answer": [
            "(?:ich|wir) (?:kann|konnen|konnte|konnten|darf|vermag){g9} (?:{no}){g6} {do_it}",
            "(?:kann|konnen|konnte|konnten|darf) (?:ich|wir){g9} (?:{no}){g6} {do_it}",
            "(?:ich|wir){g9} (?:{no}){g4} {do_it} (?:kann|konnen|konnte|konnten)",
            "(?:frage|antwort|dies|das|es|sie){g9} nicht{g6} (?:{told}|{do_it}) (?:werden|lasst"
            "|kann|konnte|ist)",
            "(?:frage|antwort){g3} (?:kann|konnte|lasst sich|ist){g9} nicht{g6} (?:{told}|{do_it})",
            "(?:dies|das|es) (?:kann|konnte|lasst sich){g9} nicht{g6} (?:{told}|{do_it})",
            "(?:kann|konnen|lasst sich|konnte){g9} nicht{g8} (?:{told}|{do_it}){g4} {in_documents}",
            "{in_documents}{g3} (?:kann|konnen|lasst sich|ist|lassen sich|konnte){g9} nicht",
            "(?:es|mir|uns) (?:ist|war){g3} (?:nicht moglich|unmoglich|leider nicht moglich)"
            "|(?:ist|war) (?:es )?(?:mir )?(?:leider )?(?:nicht moglich|unmoglich)",
            "(?:frage|anfrage){g4} (?:nicht beantwortbar|unbeantwortbar|nicht zu beantworten)",
            "keine (?:[\\w-]{1,25} )?(?:antwort|auskunft|aussage) (?:geben|moglich|machen|treffen"
            "|auf)",
            "nicht in der lage",
        ],
    },
    may_refuse={
        "something is not told": [
            "(?:steht|stehen|finde|findet|finden|geht|ergibt|lasst sich|fehlt){g4} (?:nichts|nicht"
            "|nirgends){g4} (?:uber|zu|dazu|daruber|hervor|{told})",
            "(?:steht|stehen|geht|ergibt){g3} (?:nirgend(?:s|wo)(?: hervor)?,? (?:{which}|wo)"
            "|nicht(?: hervor)?,? (?:{which}))",
            "(?:wird|werden|ist|sind|wurde|wurden){g6} nicht{g3} (?:erwahnt|genannt|angegeben"
            "|beschrieben|spezifiziert|aufgefuhrt|erlautert|verfugbar|naher|erklart|dokumentiert)",
            "nicht (?:naher )?(?:erwahnt|angegeben|spezifiziert|genannt)",
            "(?:erwahnt|nennt|spezifiziert){g4} (?:{no})",
        ],
        "something is not known": [
            "(?:ist|sind|bleibt|bleiben|war){g5} (?:unbekannt|unklar|ungewiss|unsicher)",
            "(?:ist|sind|war|waren|wird|wurde){g4} nicht (?:bekannt|klar|sicher|eindeutig"
            "|deutlich)",
            "niemand weiss?|schwer zu (?:sagen|bestimmen|beantworten)|nicht sicher",
            "(?:lasst sich|kann|konnte){g6} nicht{g4} (?:feststellen|bestimmen|sagen|festgestellt"
            "|bestimmt|ermittelt|ermitteln|beantwortet)",
        ],
    },
    about_documents=[
        "(?:{page}|{paper})",
        "(?:erwahnt|erwahnen|nennt|enthalt|enthalten|steht|spezifiziert|genannt|angegeben)",
    ],
    preface=["{in_documents}|(?:{from}) (?:von )?{documents}"],
    lead=[
        "leider|aber|jedoch|allerdings|daher|deshalb|also|somit|auserdem|zudem|dennoch|doch|und"
        "|antwort|fazit|zusammenfassend|hinweis|trotzdem|folglich|bedauerlicherweise|sorry|nun"
        "|hallo|insgesamt|stattdessen|kurz gesagt|anmerkung|behauptung|ausserdem",
    ],
    aside=[
        "(?:es )?tut (?:mir|uns)(?: sehr| wirklich| aufrichtig)? leid|entschuldig\\w*"
        "|ich (?:entschuldige|bedauere?|bitte um)|wir bitten um",
        "(?:wenn|falls|sollten|sofern|solltest) (?:sie|du|ihr|es|dies|weitere|noch|moglich)",
        "bitte|lassen sie|lass mich|wenden sie|wende dich|konsultieren|kontaktieren|prufen"
        "|schauen|versuchen|besuchen|fragen sie|zogern|gerne|gern|danke|vielen dank|teilen sie",
        "(?:sie|du) (?:konnen|konnten|sollten|kannst|konntest|solltest|mussten|musstest|finden"
        "|mussen)",
        "(?:kann|darf|soll) ich|konnten sie|konnen sie|kannst du|mochten sie|mochtest du|haben sie"
        "|brauchen sie|gibt es (?:noch )?etwas",
        "(?:ich|wir) (?:empfehle|empfehlen|rate|schlage|helfe|kann|konnte|wurde|hoffe|stehe"
        "|brauchte|benotige|habe nur|verfuge nur|helfe|beziehe|verweise)",
        "(?:fur|um) (?:weitere|mehr|genauere|nahere|diese|dies|aktuelle|genaue|die|eine|das|den"
        "|detaillierte|prazise|zusatzliche)",
        "(?:weitere|zusatzliche|mehr|andere|nahere) (?:informationen|quellen|details|angaben"
        "|dokumente|kontext)",
        "es (?:ist|ware) (?:ratsam|empfehlenswert|sinnvoll|am besten|besser|hilfreich|notwendig)"
        "|es empfiehlt sich",
        "(?:obwohl|wahrend|zwar|obgleich)? ?{documents}{g3} (?:nur|hauptsachlich|vor allem"
        "|lediglich|ausschliess?lich|zwar)? ?(?:behandelt|behandeln|beschreibt|beschreiben|bezieht"
        "|beziehen|befasst|befassen|geht|gehen|handelt|handeln|konzentriert|konzentrieren|betrifft"
        "|betreffen|erwahnt|erwahnen|thematisiert|thematisieren|erortert|erortern|drehen|dreht"
        "|beschaftigen|beschaftigt)(?! dass)",
        "(?:obwohl|wahrend|zwar)? ?{documents}{g2} (?:enthalt|enthalten|gibt|geben|bietet|bieten"
        "|liefert|liefern) (?:nur |zwar |lediglich |allgemeine |einige "
        "|begrenzte )*(?:informationen"
        "|angaben|details|einen uberblick|hinweise)",
        "(?:sie|es|diese|dieser|darin|dort) (?:[\\w-]{1,20} )?(?:sich )?(?:nur|hauptsachlich"
        "|lediglich|vor allem|ausschliess?lich|stattdessen)",
        "(?:die|diese|ihre|deine) (?:frage|anfrage) (?:ist|bezieht|fragt|lautet|betrifft|zielt)",
        "(?:{from}) {documents}$|{documents}$",
        "(?:quellen?|zitate|frage|erklarung|begrundung|referenzen)(?:$| ?:)",
    ],
    contrast=["aber|jedoch|allerdings|obwohl|dennoch|doch|hingegen|gleichwohl|sondern|wohl aber"],
    concession=["obwohl|wahrend|obgleich|trotz|zwar|auch wenn|wenngleich|abgesehen"],
    yes_or_no=["ja|nein|richtig|stimmt|doch"],
    asks_back=[
        "(?:meinen|meinst|meinten) (?:sie|du)|(?:welche|welcher|welches|welchen|was|wen|wo){g5}"
        " (?:meinen|meinst|suchen|suchst|beziehen|beziehst|mochten|interessieren) (?:sie|du)",
        "(?:konnten|konnen|kannst|konntest|wurden|wurdest) (?:sie|du){g8} (?:prazisieren"
        "|konkretisieren|klaren|erlautern|angeben|spezifizieren|sagen|mitteilen|verdeutlichen"
        "|genauer|klarstellen|naher)",
        "(?:beziehen|beziehst) (?:sie|du) (?:sich|dich) auf|fragen sie nach|fragst du nach"
        "|geht es (?:ihnen|dir) um|sprechen sie von",
        "bitte{g6} (?:prazisieren|konkretisieren|angeben|an,? welche|genauer|klaren|spezifizieren)",
        "(?:welche|welcher|welches|welchen) (?:[\\w-]{1,25} )?(?:genau|ist gemeint|meinen)",
    ],
    several=[
        "es gibt (?:viele|mehrere|verschiedene|einige|zwei|drei|mehr als)",
        "zum beispiel|beispielsweise",
    ],
)
