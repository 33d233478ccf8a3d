from assembler.report.page.chart import Line as Line
from assembler.report.page.chart import Ticks as Ticks
from assembler.report.page.chart import chart_svg as chart_svg
from assembler.report.page.html import notebook_html as notebook_html
from assembler.report.page.html import page_html as page_html
from assembler.report.page.texts import Texts as Texts
