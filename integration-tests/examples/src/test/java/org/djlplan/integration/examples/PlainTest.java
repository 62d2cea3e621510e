package org.djlplan.integration.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the example without a framework: stock, planned, and with a measured delegate. */
@Tag("examples")
class PlainTest {

    @TempDir Path folder;

    @Test
    void jar_imagesAndModel_classesOfStockByAPlan() throws Exception {
        Classifier classifier = Classifier.in(folder);
        String stock = classifier.runPlain("-Ddjlplan.memplan.enabled=false");
        List<String> expected = Classifier.classes(stock);
        assertEquals(classifier.images().size(), expected.size(), stock);
        assertTrue(stock.endsWith("stock"), stock);

        String planned = classifier.runPlain("-Ddjlplan.delegation.profile=blocking");

        assertEquals(expected, Classifier.classes(planned), planned);
        assertTrue(planned.contains("arena"), planned);
        assertTrue(planned.contains("MEASURED"), planned);
    }
}
