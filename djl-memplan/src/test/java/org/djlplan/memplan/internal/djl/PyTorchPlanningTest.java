package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.BaseModel;
import ai.djl.Model;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PyTorchPlanningTest {

    private final Block block = Blocks.identityBlock();

    private static final class LoadedModel extends BaseModel {

        LoadedModel(boolean loaded) {
            super("model");
            wasLoaded = loaded;
        }

        @Override
        public void load(Path folder, String prefix, Map<String, ?> options) {
            throw new UnsupportedOperationException();
        }

        boolean wasLoaded() {
            return wasLoaded;
        }
    }

    @Test
    void replaceBlock_loadedModel_staysLoaded() {
        LoadedModel model = new LoadedModel(true);
        PyTorchPlanning.replaceBlock(model, block);
        assertSame(block, model.getBlock());
        assertTrue(model.wasLoaded());
    }

    @Test
    void replaceBlock_modelWhoseBlockWasSetByHand_staysSo() {
        LoadedModel model = new LoadedModel(false);
        PyTorchPlanning.replaceBlock(model, block);
        assertSame(block, model.getBlock());
        assertFalse(model.wasLoaded());
    }

    @Test
    void replaceBlock_modelOfAnotherKind_setsItsBlock() {
        List<Object> set = new ArrayList<>();
        Model model =
                (Model)
                        Proxy.newProxyInstance(
                                Model.class.getClassLoader(),
                                new Class<?>[] {Model.class},
                                (proxy, method, arguments) -> {
                                    assertEquals("setBlock", method.getName());
                                    set.add(arguments[0]);
                                    return null;
                                });
        PyTorchPlanning.replaceBlock(model, block);
        assertEquals(List.of(block), set);
    }
}
