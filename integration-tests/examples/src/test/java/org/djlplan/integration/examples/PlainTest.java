package org.djlplan.integration.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the example that uses no framework: stock, planned, and with a measured delegate. */
@Tag("examples")
class PlainTest {

    @TempDir Path folder;

    @Test
    void jar_imagesAndModel_stockOutputsByAPlanAndCloseOnesByADelegate() throws Exception {
        Classifier classifier = Classifier.in(folder);
        String stock = classifier.runPlain("-Ddjlplan.memplan.enabled=false");
        List<Map<String, Double>> expected = Classifier.probabilities(stock);
        assertEquals(classifier.images().size(), expected.size(), stock);
        assertTrue(stock.endsWith("stock"), stock);

        String planned = classifier.runPlain("-Ddjlplan.delegation.enabled=false");

        List<Map<String, Double>> same = Classifier.probabilities(planned);
        assertEquals(expected.size(), same.size(), planned);
        for (int i = 0; i < expected.size(); i++) {
            Classifier.assertSame(expected.get(i), same.get(i));
        }
        assertTrue(planned.contains("arena"), planned);

        String delegated = classifier.runPlain("-Ddjlplan.delegation.profile=blocking");

        List<Map<String, Double>> close = Classifier.probabilities(delegated);
        assertEquals(expected.size(), close.size(), delegated);
        for (int i = 0; i < expected.size(); i++) {
            Classifier.assertClose(expected.get(i), close.get(i));
        }
        assertTrue(delegated.contains("MEASURED"), delegated);
    }
}
