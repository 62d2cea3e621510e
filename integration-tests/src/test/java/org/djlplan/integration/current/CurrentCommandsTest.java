package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.ObjectArrays;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.djlplan.integration.support.DjlPlanProcess;
import org.djlplan.integration.support.DjlPlanProcess.Result;
import org.djlplan.integration.torch.TorchScriptModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands on a current DJL, which has no TFLite engine. */
@Tag("djl-current")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class CurrentCommandsTest {

    @TempDir Path folder;

    @Test
    void compare_zooNetwork_isIdentical() throws Exception {
        assertIdentical("zoo:lenet");
    }

    @Test
    void compare_torchScriptFile_isIdentical() throws Exception {
        Path source = TorchScriptModels.named("cnn").file();
        Path model = Files.copy(source, folder.resolve(source.getFileName()));
        assertIdentical("--input-shape", "1,3,32,32", model.toString());
    }

    private void assertIdentical(String... model) throws Exception {
        String[] line = {"compare", "--json", "--iterations", "3", "--threads", "1"};
        Result result = DjlPlanProcess.run(folder, ObjectArrays.concat(line, model, String.class));
        assertEquals(0, result.exitCode(), result.err());
        assertTrue(result.json().get("identical").getAsBoolean(), result.out());
    }
}
