package org.djlplan.integration.current;

import com.sun.jna.Library;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.CurrentTfLite;
import org.djlplan.integration.support.Delegated;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.runtime.WorkspacePool;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;

/** Serves two models in a process where their workspaces cannot be shared. */
final class SharedWorkspacesProgram {

    private static final int RTLD_LAZY = 1;

    private SharedWorkspacesProgram() {}

    /**
     * Serves a model without sharing, and twice beside that with sharing.
     *
     * @param arguments the model, and {@code before} if other code should use XNNPACK first
     */
    public static void main(String[] arguments) throws Exception {
        if (arguments[1].equals("before")) {
            CurrentTfLite.load();
            useXnnpack();
        }
        StockInterpreter.loadEngine();
        Delegated delegated = Delegated.all(Path.of(arguments[0]), Delegates.XNNPACK, 1);
        try (StockInterpreter engine = new StockInterpreter(delegated.file(), 1);
                ServedModel alone = delegated.open(false);
                ServedModel one = delegated.open(true);
                ServedModel other = delegated.open(true)) {
            List<ByteBuffer> inputs = engine.randomInputs(1);
            List<List<Integer>> shapes = engine.shapes();
            List<ByteBuffer> expected = outputs(alone, inputs, shapes);
            Bits.assertSame(expected, outputs(one, inputs, shapes), "one");
            Bits.assertSame(expected, outputs(other, inputs, shapes), "the other");
            if (WorkspacePool.shared().metric().workspaces() != 0) {
                throw new IllegalStateException(WorkspacePool.shared().metric().toString());
            }
        }
    }

    private static List<ByteBuffer> outputs(
            ServedModel model, List<ByteBuffer> inputs, List<List<Integer>> shapes) {
        return model.run(inputs, shapes).stream().map(OutputTensor::data).toList();
    }

    private static void useXnnpack() throws Exception {
        NativeLibrary library =
                NativeLibrary.getInstance(
                        EngineLibrary.loaded().file().toString(),
                        Map.of(Library.OPTION_OPEN_FLAGS, RTLD_LAZY));
        Pointer delegate =
                library.getFunction("TfLiteXNNPackDelegateCreate")
                        .invokePointer(new Object[] {Pointer.NULL});
        library.getFunction("TfLiteXNNPackDelegateDelete").invokeVoid(new Object[] {delegate});
    }
}
