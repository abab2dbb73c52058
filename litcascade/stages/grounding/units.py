"""Units of measure in one spelling, and what they count."""

_SPELLINGS = {
    "%": "percent per cent pct prozent",
    "mg": "milligram milligrams",
    "lb": "lbs pound pounds",
    "g": "gram grams",
    "kg": "kilogram kilograms kgs",
    "μg": "µg ug mcg microgram micrograms",
    "ng": "nanogram nanograms",
    "ml": "millilitre millilitres milliliter milliliters cc",
    "l": "litre litres liter liters",
    "dl": "decilitre deciliter",
    "μl": "µl ul",
    "iu": "",
    "u": "unit units",
    "mmhg": "",
    "mm": "millimetre millimetres millimeter millimeters",
    "cm": "centimetre centimetres centimeter centimeters",
    "m": "metre metres meter meters",
    "km": "kilometre kilometres kilometer kilometers",
    "mmol": "millimole millimoles",
    "μmol": "µmol umol",
    "kcal": "",
    "°c": "",
    "hour": "h hr hrs hours stunde stunden heure heures hora horas",
    "minute": "min mins minutes minuten",
    "second": "sec secs s seconds",
    "day": "d days tag tage tagen jour jours día días dia dias",
    "week": "wk wks w weeks woche wochen semaine semaines semana semanas",
    "month": "mo mos months monat monate monaten mois mes meses",
    "year": "y yr yrs years jahr jahre jahren ans année années año años",
    "point": "points pts punkte",
    "patient": (
        "patients participant participants person persons people subject subjects child children adult adults woman women man "
        "men infant infants case cases event events death deaths trial trials study studies record records count number patienten"
    ),
}
UNITS = {word: unit for unit, words in _SPELLINGS.items() for word in (unit, *words.split())} | {"per cent": "%"}
TIME_UNITS = {"hour": 1, "day": 24, "week": 168, "month": 1, "year": 12, "minute": 1, "second": 1}
_DATES = ("month", "year")
COUNTED = "patient"


def unit_of(words: str) -> str:
    """The unit in its one spelling; the words themselves, folded, where they are not on the list."""
    plain = " ".join(words.split()).casefold().replace("µ", "μ").replace("²", "2").replace("^2", "2")
    if plain in UNITS:
        return UNITS[plain]
    return "/".join(UNITS.get(part.strip(), part.strip()) for part in plain.replace(" per ", "/").split("/"))


def known(unit: str) -> bool:
    """Whether a unit, or the first part of one such as mg/kg, is on the list."""
    return unit in UNITS or (unit.partition("/")[0] in UNITS and "/" in unit)


def hours(number: float, unit: str) -> tuple[str, float] | None:
    """A time in a measure that can be compared: ("hours", …) up to weeks, ("months", …) above; None for other units.

    Weeks and months are never set against each other: four weeks are no month.
    """
    if unit not in ("hour", "day", "week", *_DATES):
        return None
    return ("months" if unit in _DATES else "hours"), number * TIME_UNITS[unit]
