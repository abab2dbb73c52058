"""Word lists for telling damaged text: English words with ligatures, stop words by language, small words that get glued."""

from collections.abc import Iterator
from functools import cache
from itertools import product


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


LIGATURES = ("ffi", "ffl", "ff", "fi", "fl")
_BASES = """
define defined definition definitive definitely significant significantly significance specific specifically specificity specify
identify identified identification identifying classification classify classified field first find finding figure fifty final
finally finger fiber fibre fibrosis fibrinogen fibroblast fibrillation filter filtration fixed fixation fidelity financial finance
finished finite infinite confidence confident confirm confirmed confirmation confirming configuration confined benefit beneficial
profile deficit deficient deficiency artificial scientific modification modified modify modifying verification verified
quantification quantify quantified stratification stratified notification justification justified amplification amplified
purification purified certified certification qualified satisfied simplified clarified unified refined refinement profit prefix
superficial proficiency infiltration infiltrate calcification calcified ossification diversified intensified fibromyalgia firm
clarification specification modifiable identifiable sacrificed magnified microflora briefing
flow influence influenced influencing influenza inflammation inflammatory flexible flexibility flexion reflex reflect reflected
reflection reflecting conflict conflicting fluid fluorescence fluorescent fluoride fluctuation fluency influx reflux afflicted
flavonoid fluoxetine fluconazole ciprofloxacin levofloxacin ofloxacin inflation inflated overflow outflow inflow airflow
effect effective effectively effectiveness affect affected affecting different difference differ differed differing differential
differentiation differentiated differently diffuse diffusion offer offered offering suffer suffered suffering staff effort buffer
buffered coffee offspring offset cutoff stiff stiffness affluent diffraction indifferent afford affordable affective effusion
suffocation caffeine effector
efficacy efficacious efficient efficiently efficiency inefficient coefficient difficult difficulty difficulties sufficient
sufficiently insufficient insufficiency affinity official officer office traffic trafficking affiliation affiliated
efflux effluent shuffle shuffled baffled
"""
_REAL = _listed(
    """
    tracking oficial oficials afer ale ofice feld fow owing ting ne nd nal ber bers uid inate inates ow ows led ler rm rms
    ice icer lux uent coned dene bene prole refer refers refered rening recting inow fuid rene fame fat feet fight fee fed
    fen fin fir fist fit fits fix fins orid
    """
)
_ALONE = _listed("rst gure gures nding ndings nally eld elds eect eects brosis xed nancial uorescence uctuations")


def _words() -> Iterator[str]:
    for word in _BASES.split():
        yield from (word, f"{word}s")


@cache
def broken() -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    """What is left of words that lost a ligature: {remains: word}, and {(left, right): word} where a blank stands in between."""
    single: dict[str, str] = {}
    parted: dict[tuple[str, str], str] = {}
    whole = set(_words())
    for word in whole:
        ligature = next((one for one in LIGATURES if one in word), None)
        if ligature is None:
            continue
        left, right = word.split(ligature, 1)
        for rest in {"", "f", ligature[:-1], ligature[1:]} - {ligature}:
            remains = left + rest + right
            if remains not in _REAL and remains not in whole and (len(remains) > 4 or remains in _ALONE):
                single.setdefault(remains, word)
        if left and right:
            parted[left, right] = word
        if right and len(right) > 1 and left + ligature not in ("off", "staff", "stiff"):
            parted[left + ligature, right] = word
    return single, {pair: word for pair, word in parted.items() if not _plain(*pair)}


def _plain(left: str, right: str) -> bool:
    """Whether two pieces are words of their own, so that their standing side by side tells nothing."""
    return left in _STANDING and (right in _STANDING or len(right) < 3)


_STANDING = _listed(
    "a an at con de do e i in of off pre pro re se s t un le ting ed d en er ice lux led ling nd ow rm ne ring ex ve x"
)
GLUED = frozenset(
    first + second
    for first, second in product(
        _listed("of in to and for on with from that by is was were are at as when which between among"),
        _listed("the this these those their our was were with patients"),
    )
) - {"inpatients"}

STOP_WORDS = {
    "English": _listed(
        "the of and in to was were with for that is are by this from on be as at an which not or we had have has it than"
    ),
    "German": _listed(
        "der die und den von das des mit dem ist eine ein nicht im auf für bei wurde werden als auch sich einer zu wurden"
    ),
    "French": _listed(
        "le les des et la du en une est dans un par pour avec sur que qui au ont été ces sont chez aux plus cette ou nous"
    ),
    "Spanish": _listed(
        "el los las de la que en y del se por con una un para como más fue es al entre su lo no este sus han fueron"
    ),
    "Portuguese": _listed(
        "o os as da do em que dos das uma um com para não por foi ao na no mais como se foram entre pela à são sua"
    ),
    "Italian": _listed(
        "il di che la della dei è gli nel con per una un del le sono alla nella delle stato non si al tra più come dal i"
    ),
    "Dutch": _listed(
        "de het een van en in is dat op te met voor zijn niet aan er die bij werd om ook als door naar deze werden of"
    ),
    "Polish": _listed("w i z na do się że nie jest oraz przez po od to dla u są o przy był były tym jak badania ze lub"),
    "Swedish": _listed("och att det som en på är av för med den till inte om ett har var från vid kan eller men hos ej samt"),
    "Danish or Norwegian": _listed(
        "og at det som en på er af av for med den til ikke om et har var fra ved kan eller men hos blev ble"
    ),
    "Turkish": _listed("ve bir bu ile için olarak da de olan olduğu daha en çok göre hastaların sonra ise veya arasında gibi"),
    "Czech": _listed("a v na se je že s z do o k i ve pro by jsou byl byla které po při jako nebo od bylo"),
    "Romanian": _listed("și în de la cu a pe din care este un o sunt pentru mai nu au fost prin sau au al ale că după"),
    "Hungarian": _listed("a az és hogy nem is egy volt meg csak ez de el mint vagy voltak között után még ki"),
}
