package org.djlplan.delegation.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class StudyPageTest {

    private static final Pattern CHART = Pattern.compile("<svg.*?</svg>", Pattern.DOTALL);

    private static final Explained EXPLAINED =
            Explained.ofKept(
                            SampleStudies.graph(),
                            Map.of("delegate", "<gpu>", "exclude", "name:t5"),
                            SampleStudies.table())
                    .orElseThrow();

    private final String page = StudyPage.of(SampleStudies.study(), EXPLAINED);

    /** Returns the charts, which are well-formed or fail here. */
    private static List<Document> charts(String page) throws Exception {
        List<Document> charts = new ArrayList<>();
        Matcher matcher = CHART.matcher(page);
        while (matcher.find()) {
            charts.add(
                    DocumentBuilderFactory.newInstance()
                            .newDocumentBuilder()
                            .parse(new InputSource(new StringReader(matcher.group()))));
        }
        return charts;
    }

    private static List<Element> elements(Document chart, String tag, String kind) {
        NodeList nodes = chart.getElementsByTagName(tag);
        List<Element> found = new ArrayList<>();
        for (int i = 0; i < nodes.getLength(); i++) {
            Element element = (Element) nodes.item(i);
            if (element.getAttribute("class").equals(kind)) {
                found.add(element);
            }
        }
        return found;
    }

    @Test
    void of_study_needsNothingElse() {
        assertFalse(page.contains("<script"), "a script");
        assertFalse(Pattern.compile("https?:|src=|href=|url\\(|@import").matcher(page).find());
        assertTrue(page.startsWith("<!doctype html>"));
        assertTrue(page.contains("prefers-color-scheme: dark"));
        assertTrue(page.contains("&lt;net&gt; &amp; co.tflite"), "an escaped name");
        assertFalse(page.contains("<net>"), "a name that is not escaped");
    }

    @Test
    void of_study_saysWhyOperatorsAreDelegatedOrNot() {
        assertTrue(page.contains("<td>excluded: by you</td>"), page);
        assertTrue(page.contains("5 delegated, 1 excluded, 4 not worth it, 2 unsupported"), page);
    }

    @Test
    void of_study_hasEverySetInTheChart() throws Exception {
        Document chart = charts(page).get(0);
        assertEquals(6, elements(chart, "circle", "set").size(), "all but the one that failed");
        assertEquals(3, elements(chart, "circle", "rule").size());
        List<Element> ours = elements(chart, "circle", "ours");
        assertEquals(1, ours.size());
        assertEquals("chosen: 2,3 of 3, 40.000 ms", ours.get(0).getTextContent());
        String text = chart.getDocumentElement().getTextContent();
        assertTrue(text.contains("median latency, ms"), text);
        assertTrue(text.contains("delegated partitions"), text);
    }

    @Test
    void of_study_drawsLowerWhatIsFaster() throws Exception {
        List<Element> sets = elements(charts(page).get(0), "circle", "set");
        double before = Double.POSITIVE_INFINITY;
        for (Element set : sets) {
            double top = Double.parseDouble(set.getAttribute("cy"));
            assertTrue(top >= 40 && top <= 344, "inside: " + top);
            assertTrue(top <= before, "the fastest first");
            before = top;
        }
    }

    @Test
    void of_study_hasTwoBarsPerPartition() throws Exception {
        Document chart = charts(page).get(1);
        List<Element> bars = elements(chart, "rect", "delegate");
        assertEquals(4, bars.size(), "three and the legend");
        double first = Double.parseDouble(bars.get(0).getAttribute("height"));
        double second = Double.parseDouble(bars.get(1).getAttribute("height"));
        assertEquals(4, first / second, 0.01);
        assertEquals(4, elements(chart, "rect", "cpu").size());
    }

    @Test
    void of_nothingMeasured_isAPage() throws Exception {
        Study full = SampleStudies.study();
        Study empty =
                new Study("net", 1, 0, -1, List.of(), 1, List.of(), List.of(), full.usual(), 0, 0);
        assertEquals(2, charts(StudyPage.of(empty, EXPLAINED)).size());
    }
}
