"""README.txt of an archive: what it is and how to check it, in plain words."""

from litcascade.pipeline.archiving.manifest import Manifest


def readme(manifest: Manifest) -> str:
    """The text."""
    inside = "\n".join(f"  {table}: {rows} row(s)" for table, rows in manifest.tables.items() if rows)
    outside = "\n".join(f"  {what}: {why}" for what, why in {**manifest.left_out, **manifest.blank}.items()) or "  nothing"
    notes = "".join(f"\nTo know: {note}\n" for note in manifest.notes)
    return f"""A run of litcascade as one file: {manifest.title}

Made by litcascade {manifest.litcascade} on {manifest.created[:10]}, archive format {manifest.format}.

To check it, install litcascade ({manifest.litcascade} or newer) and run

  litcascade replay THIS_FILE.zip

It checks every file against its checksum, builds the review anew in a temporary folder, derives every verdict again from the
raw replies (no model is asked, nothing is sent anywhere), and compares verdicts and numbers with those in here. With
--into FOLDER the review stays in that folder.

manifest.json     what is in here with sizes and SHA-256, and what was left out and why
protocol/         the protocol (review.toml) and the prompt files it names
binding.json      models with revisions and engines, all prompts as they were sent, worked examples, fingerprints of the stages
numbers.json      ledger and scores as `litcascade report` computes them
environment.json  system, Python, packages with versions, seeds
tables/           the tables of the store as Parquet files; any program that reads Parquet opens them

Tables with rows:
{inside}

Left out:
{outside}
{notes}
Names of the people who decided stand in the tables. Titles, abstracts and texts of papers may belong to their publishers: see to
their licences before you pass this file on (`litcascade archive --no-texts` and `--no-abstracts` leave them out).
"""
