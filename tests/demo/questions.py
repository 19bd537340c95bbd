"""Questions over the bundled documents that the gold set does not ask.

Each with what a right answer holds, or None where the documents do not tell: half of those are
near misses about the same institutions, the others far off. The easy ones are about an institution
as such, where a neighbour of nearly the same name, or another thing of the kind, is near at hand.
"""

from __future__ import annotations

ANSWERABLE = {
    "Who reopened the Rijksmuseum after its renovation?": "Queen Beatrix",
    "In which year was the Great Court of the British Museum opened?": "2000",
    "When was the Palace Museum in Beijing founded?": "10 October 1925",
    "Who gave the Ashmolean Museum its first collection?": "Elias Ashmole",
    "Who was the first librarian of the Vatican Library?": "Platina",
    (
        "What is the popular jadeite object in the National Palace Museum carved to look like?"
    ): "cabbage",
    "Which two towns hold the houses of the Deutsche Nationalbibliothek?": "Leipzig",
    "How many main houses does the Staatsbibliothek zu Berlin have?": "two main houses",
    "Where are the audio and film collections of the Library of Congress stored?": "Culpeper",
    "Why was the Archivo General de Indias created?": "to bring together the records",
    (
        "Which condition did Sir John Williams set for the gift of his collection?"
    ): "stand in that town",
    "What was the main building of the Prado designed for?": "cabinet of natural history",
    "When was the first version of EAD published?": "1998",
    "What does the Image API of IIIF put into the address?": "region, size, rotation",
    "Explain how the Vasari Corridor runs.": "Ponte Vecchio",
    "Name the architect of the Musée d'Orsay interiors.": "Gae Aulenti",
    "Which opened earlier, the Pergamonmuseum or the Ashmolean Museum?": "1683",
    "How are the Bodleian Library and the Stationers' Company connected?": "agreement",
    "Wie was de eerste directeur van het Rijksmuseum van Oudheden?": "Caspar Reuvens",
    "Wanneer brak er brand uit in het Schielandshuis?": "1864",
    "Wat is Metamorfoze?": "behoud van papieren erfgoed",
    "Welke architect ontwierp het museumgebouw van Boijmans Van Beuningen?": "Van der Steur",
    "Hoeveel genummerde regels geeft de Handleiding?": "honderd",
    "In welke kerk is de studiezaal van het Noord-Hollands Archief?": "Janskerk",
    "Sinds wanneer rijdt er een tram door het Openluchtmuseum?": "1996",
    "Noem twee schilderijen van Jheronimus Bosch in Gent.": "Kruisdraging",
    "Wie werd in 1831 de eerste rijksarchivaris van België?": "Gachard",
    "Wat gebeurde er met de Nachtwacht in 1715?": "stroken afgesneden",
}
NEAR_MISSES = [
    "How many paintings hang in the Gallery of Honour of the Rijksmuseum?",
    "Who designed the restaurant of the British Museum?",
    "When was the Rosetta Stone returned to Egypt?",
    "What did the renovation of the Rijksmuseum cost?",
    "Who is the present librarian of Congress?",
    "How old was Belle da Costa Greene when she died?",
    "Which company insures the Mauritshuis?",
    "Why did the Prado dismiss its architect?",
    "When did the Bodleian Library move to Cambridge?",
    "Which is larger, the Uffizi or the Laurentian Library?",
    "Hoeveel kranten staan er op Delpher?",
    "Wie is de directeur van het STAM?",
    "Wanneer werd de Boekentoren gerestaureerd?",
    "Wat is de toegangsprijs van Rijksmuseum Boerhaave?",
    "Welke architect verbouwde de Janskerk in Haarlem?",
    "In welk jaar verkocht Jo van Gogh-Bonger de Zonnebloemen?",
]
FAR_OFF = [
    "What is the boiling point of water at sea level?",
    "Who won the World Cup in 1998?",
    "How do I reset my router?",
    "Which planet has the most moons?",
    "Summarise the plot of Hamlet.",
    "What is the exchange rate of the dollar?",
    "Who wrote the opera Carmen?",
    "Hoe laat vertrekt de trein naar Groningen?",
    "Wat is het hoogste gebouw van Rotterdam?",
    "Wie schreef Max Havelaar?",
    "Wat is een goed recept voor erwtensoep?",
    "Hoeveel inwoners heeft Parijs?",
]
UNANSWERABLE = [*NEAR_MISSES, *FAR_OFF]
EASY: dict[str, str | None] = {
    "Who designed the Rijksmuseum?": "Pierre Cuypers",
    "who designed the rijksmuseum": "Pierre Cuypers",
    "Wie ontwierp het Rijksmuseum?": "Pierre Cuypers",
    "Who founded the Rijksmuseum?": None,
    "Which king founded the Rijksmuseum?": None,
    "Where is the Rijksmuseum?": None,
    "When did the British Library open?": "1998",
    "when did the british library open": "1998",
    "When was the British Library founded?": "1973",
    "How many books does the British Library have?": None,
    "How many copies of the Magna Carta does the British Library keep?": "two of the four",
    "When was the British Museum founded?": "1753",
    "Who designed the Great Court of the British Museum?": None,
    "Where is the British Museum?": None,
    "When was the Louvre opened as a museum?": "1793",
    "When did the Louvre open?": "1793",
    "How many books does the Library of Congress have?": None,
    "How many volumes does the Library of Congress have?": None,
    "How many volumes were bought from Thomas Jefferson?": "6,487",
    "When did the Library of Congress open?": None,
    "When did the Bodleian Library open?": None,
    "Which painter made the Girl with a Pearl Earring?": None,
    "Which collector left the Girl with a Pearl Earring to the Mauritshuis?": "des Tombe",
    "When did the Mauritshuis open as a museum?": "1822",
    "Where is the Mauritshuis?": "The Hague",
    "Who designed the Mauritshuis?": "Jacob van Campen",
    "Which pope founded the Vatican Library?": "Sixtus IV",
    "Who built the Vatican Library?": None,
    "Which queen reopened the Rijksmuseum?": "Queen Beatrix",
    "When was the Palace Museum founded?": "1925",
    "When was the National Palace Museum opened?": "1965",
    "How many museums are there on the Museum Island?": "five",
    "Wie stichtte het Rijksmuseum van Oudheden?": "Koning Willem I",
    "Hoeveel schilderijen heeft het Van Gogh Museum?": "tweehonderd",
    "Hoeveel negatieven telt de fotocollectie De Boer?": "twee miljoen",
    "Hoeveel boeken heeft de Universiteitsbibliotheek Leiden?": None,
}
