"""Irregular English: verbs and plurals that no rule brings together."""

from __future__ import annotations

_FORMS = """
    be am is are was were been being | have has had having | do does did done doing
    go goes went gone going | arise arose arisen | awake awoke awoken | bear bore borne
    beat beaten | become became | begin began begun | bend bent | bind bound | bite bit bitten
    bleed bled | blow blew blown | break broke broken | breed bred | bring brought
    build built | burn burnt | buy bought | catch caught | choose chose chosen choosing
    cling clung | come came | creep crept | deal dealt | die died dies dying | dig dug
    draw drew drawn | dream dreamt | drink drank drunk | drive drove driven | eat ate eaten
    fall fell fallen | feed fed | feel felt | fight fought | find found finding finds | flee fled
    fling flung | fly flew flown flies | forbid forbade forbidden | foresee foresaw foreseen
    forget forgot forgotten | forgive forgave forgiven | freeze froze frozen freezing
    get got gotten | give gave given | grow grew grown | hang hung | hear heard
    hide hid hidden | hold held | keep kept | kneel knelt | know knew known | lay laid
    lead led | learn learnt | leave left leaving | lend lent | lie lain lying lies lied
    light lit | lose lost losing | make made making | mean meant | meet met | mistake mistook
    mislead misled | overcome overcame | oversee oversaw overseen | overthrow overthrew overthrown
    pay paid | prove proven | rebuild rebuilt | ride rode ridden | ring rang rung | rise risen
    run ran running | say said | see saw seen seeing | seek sought | sell sold | send sent
    shake shook shaken | shine shone | shoot shot | show shown | shrink shrank shrunk
    sing sang sung | sink sank sunk | sit sat | sleep slept | slide slid | speak spoke spoken
    spend spent | spin spun | stand stood | steal stole stolen
    stick stuck | sting stung | strike struck | strive strove striven | swear swore sworn
    sweep swept | swim swam swum | swing swung | take took taken | teach taught | tear tore torn
    tell told | think thought | throw threw thrown | tie tied ties tying
    undergo underwent undergone undergoes | understand understood | undertake undertook undertaken
    uphold upheld | wake woke woken | wear wore worn | weave wove woven | weep wept | win won
    withdraw withdrew withdrawn | withstand withstood | write wrote written
    agree agreed agreeing | free freed freeing | guarantee guaranteed guaranteeing
    child children | man men | woman women | person people | foot feet | tooth teeth | goose geese
    mouse mice | ox oxen | half halves | knife knives | life lives | wife wives | wolf wolves
    shelf shelves | self selves | calf calves | loaf loaves | thief thieves | scarf scarves
    leaf leaves | hoof hooves | elf elves
    datum data | medium media | bacterium bacteria | criterion criteria | phenomenon phenomena
    curriculum curricula | stratum strata | index indices | matrix matrices | vertex vertices
    appendix appendices | nucleus nuclei | fungus fungi | cactus cacti | alumnus alumni
    radius radii | stimulus stimuli | larva larvae | alga algae | formula formulae
    antenna antennae | vertebra vertebrae
    analysis analyses | crisis crises | thesis theses | hypothesis hypotheses
    oasis oases | diagnosis diagnoses | axis axes | synthesis syntheses | parenthesis parentheses
    movie movies | cookie cookies | zombie zombies | calorie calories | rookie rookies | pie pies
    prairie prairies | genie genies | bus buses | gas gases | lens lenses | bias biased biases
    focus focused focusing focuses | virus viruses | campus campuses | status statuses
    bonus bonuses | census censuses | chorus choruses | circus circuses | genus genera
    corpus corpora | atlas atlases | canvas canvases | shoe shoes | toe toes
    ache aches | cache caches | niche niches | headache headaches | quiz quizzes | ski skied skiing
    fuel fuelled fuelling | panic panicked panicking
    traffic trafficked trafficking | mimic mimicked mimicking
"""
_APART = """
    news series species always perhaps besides thus means politics physics mathematics economics
    ethics athletics christmas texas kansas arkansas chaos cosmos alas whereas across
    during morning evening ceiling something nothing anything everything sibling darling sterling
    herring pudding shilling offspring beijing king ring thing wing spring string bring sing
    hundred sacred naked wicked indeed exceed proceed succeed speed breed need seed feed deed weed
    red bed shed sled united states netherlands born
"""
"""Words that look inflected and are none, or mean something else, as united and states do."""


def _table() -> dict[str, str]:
    """Each form with its first: a word that is a form of two is taken as the later one."""
    table = {word: word for word in _APART.split()}
    for line in _FORMS.strip().splitlines():
        for forms in line.split("|"):
            first, *others = forms.split()
            table.setdefault(first, first)
            table.update(dict.fromkeys(others, first))
    return table


IRREGULAR = _table()
