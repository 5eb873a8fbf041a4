"""Typeset runbook.txt as ../sources/runbook.pdf.

Needs ReportLab (pip install reportlab). The result does not depend on the
clock: `invariant` freezes the dates and the document id.
"""

from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib.enums import TA_LEFT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "runbook.txt"
TARGET = HERE.parent / "sources" / "runbook.pdf"

BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=11, leading=15.5,
                      spaceAfter=5, alignment=TA_LEFT)
ITEM = ParagraphStyle("item", parent=BODY, leftIndent=12, bulletIndent=2, spaceAfter=3)
TITLE = ParagraphStyle("title", parent=BODY, fontName="Helvetica-Bold", fontSize=18,
                       leading=24, spaceAfter=8)
CHAPTER = ParagraphStyle("chapter", parent=TITLE, fontSize=14, leading=18, spaceAfter=6)
HEADING = ParagraphStyle("heading", parent=BODY, fontName="Helvetica-Bold", spaceBefore=4,
                         spaceAfter=3)


def story(text):
    """Turn the lines of the source into paragraphs; one line is one paragraph."""
    for line in text.splitlines():
        line = line.strip()
        if not line:
            continue
        if line == "---":
            yield PageBreak()
        elif line.startswith("## "):
            yield Paragraph(escape(line[3:]), CHAPTER)
        elif line.startswith("# "):
            yield Paragraph(escape(line[2:]), TITLE)
        elif line.startswith("- "):
            yield Paragraph(escape(line[2:]), ITEM, bulletText="\u2022")
        elif len(line) < 40 and not line.endswith((".", ":")):
            yield Paragraph(escape(line), HEADING)
        else:
            yield Paragraph(escape(line), BODY)


def footer(canvas, document):
    """Write the running footer with the page number."""
    canvas.saveState()
    canvas.setFont("Helvetica", 8)
    canvas.drawString(22 * mm, 12 * mm, "Web server runbook")
    canvas.drawRightString(A4[0] - 22 * mm, 12 * mm, f"Page {document.page}")
    canvas.restoreState()


def main():
    document = SimpleDocTemplate(str(TARGET), pagesize=A4, leftMargin=22 * mm,
                                 rightMargin=22 * mm, topMargin=18 * mm, bottomMargin=20 * mm,
                                 title="Web server runbook", author="Operations", lang="en",
                                 invariant=1)
    document.build(list(story(SOURCE.read_text(encoding="utf-8"))),
                   onFirstPage=footer, onLaterPages=footer)


if __name__ == "__main__":
    main()
