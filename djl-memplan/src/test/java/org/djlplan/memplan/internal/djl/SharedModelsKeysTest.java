package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Map;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.FakeArrays;
import org.junit.jupiter.api.Test;

/** Tests that keys without a model take no memory. */
class SharedModelsKeysTest {

    private static final Criteria<NDList, NDList> CRITERIA =
            Criteria.builder().setTypes(NDList.class, NDList.class).build();

    private final SharedModels models = new SharedModels(Duration.ZERO);

    /** Returns a model that has only a name and a manager. */
    private static ZooModel<NDList, NDList> loaded(Criteria<NDList, NDList> unused) {
        NDManager manager = FakeArrays.manager();
        Model model =
                (Model)
                        Proxy.newProxyInstance(
                                Model.class.getClassLoader(),
                                new Class<?>[] {Model.class},
                                (proxy, method, arguments) -> {
                                    if (method.getName().equals("close")) {
                                        manager.close();
                                        return null;
                                    }
                                    return method.getName().equals("getNDManager")
                                            ? manager
                                            : "model";
                                });
        return new ZooModel<>(model, new NoopTranslator());
    }

    private ZooModel<NDList, NDList> get(String key, Map<String, ?> terms) throws Exception {
        return models.get(key, CRITERIA, terms, SharedModelsKeysTest::loaded);
    }

    @Test
    void keys_modelsInUse_countsThem() throws Exception {
        ZooModel<NDList, NDList> one = get("one", Map.of());
        ZooModel<NDList, NDList> other = get("other", Map.of());
        assertEquals(2, models.keys());
        one.close();
        other.close();
        Await.until(() -> models.keys() == 0);
    }

    @Test
    void keys_loadFailed_countsNothing() {
        assertThrows(
                IOException.class,
                () ->
                        models.get(
                                "m",
                                CRITERIA,
                                Map.of(),
                                criteria -> {
                                    throw new IOException("no file");
                                }));
        assertEquals(0, models.keys());
    }

    @Test
    void keys_loadedAgainWithOtherTerms_countsTheKeyUntilItsModelIsClosed() throws Exception {
        SharedModels patient = new SharedModels(Duration.ofMinutes(5));
        for (int threads = 1; threads <= 2; threads++) {
            patient.get("m", CRITERIA, Map.of("threads", threads), SharedModelsKeysTest::loaded)
                    .close();
            assertEquals(1, patient.keys());
        }
        patient.closeUnused(Thread.currentThread().getContextClassLoader());
        assertEquals(0, patient.keys());
    }
}
