package org.djlplan.memplan;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.modality.Classifications;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.translator.ImageClassificationTranslatorFactory;
import ai.djl.ndarray.NDList;
import ai.djl.training.util.ProgressBar;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlannedTranslatorFactoryTest {

    /** A translator that a user wrote for Spark. */
    private static final class Written implements Translator<String, Integer>, Serializable {

        private static final long serialVersionUID = 1;

        @Override
        public NDList processInput(TranslatorContext context, String input) {
            return new NDList();
        }

        @Override
        public Integer processOutput(TranslatorContext context, NDList list) {
            return list.size();
        }
    }

    private static byte[] written(Object object) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(object);
        }
        return bytes.toByteArray();
    }

    private static PlannedTranslatorFactory copy(PlannedTranslatorFactory factory)
            throws IOException, ClassNotFoundException {
        try (ObjectInputStream in =
                new ObjectInputStream(new ByteArrayInputStream(written(factory)))) {
            return (PlannedTranslatorFactory) in.readObject();
        }
    }

    private static String problem(PlannedTranslatorFactory factory) {
        return assertThrows(NotSerializableException.class, () -> written(factory)).getMessage();
    }

    @Test
    void serialized_factoryInside_translatesTheSame() throws Exception {
        PlannedTranslatorFactory copy =
                copy(PlannedTranslatorFactory.wrap(new ImageClassificationTranslatorFactory()));
        assertTrue(copy.isSupported(Image.class, Classifications.class));
        assertFalse(copy.isSupported(String.class, Integer.class));
    }

    @Test
    void serialized_translatorInsideAndOptions_areKept() throws Exception {
        PlannedTranslatorFactory copy =
                copy(
                        PlannedTranslatorFactory.wrap(new Written())
                                .with("memplan.warmup", "1,2")
                                .with("memplan.threads", "many"));
        assertTrue(copy.isSupported(String.class, Integer.class));
        IllegalArgumentException problem =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> copy.newInstance(String.class, Integer.class, null, Map.of()));
        assertTrue(problem.getMessage().contains("memplan.threads"), problem.getMessage());
    }

    @Test
    void serialized_nothingInside_isDjlsDefault() throws Exception {
        assertTrue(copy(new PlannedTranslatorFactory()).isSupported(NDList.class, NDList.class));
    }

    @Test
    void serialized_whatCannotBe_isNamed() {
        assertTrue(
                problem(PlannedTranslatorFactory.wrap(new NoopTranslator()))
                        .contains(NoopTranslator.class.getName()));
        assertTrue(
                problem(new PlannedTranslatorFactory().with("memplan.threads", new Object()))
                        .startsWith("the value of memplan.threads, java.lang.Object"));
        assertTrue(
                problem(new PlannedTranslatorFactory().withProgress(new ProgressBar()))
                        .startsWith("the progress, " + ProgressBar.class.getName()));
    }
}
