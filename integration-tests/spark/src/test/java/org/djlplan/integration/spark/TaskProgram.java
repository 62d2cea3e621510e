package org.djlplan.integration.spark;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.djlplan.memplan.internal.child.ParentConnection;

/** Runs an executor's tasks for {@link TurnsBench}, which requests each task by a line of JSON. */
final class TaskProgram {

    private TaskProgram() {}

    /**
     * Runs tasks of one model.
     *
     * @param arguments the model's file, and for a planned load its options
     */
    public static void main(String[] arguments) throws Exception {
        Map<String, String> options = null;
        if (arguments.length > 1) {
            options = new TreeMap<>();
            for (int i = 1; i < arguments.length; i += 2) {
                options.put(arguments[i], arguments[i + 1]);
            }
        }
        Load load = new Load("TFLite", arguments[0], new long[] {1, 224, 224, 3}, options);
        ParentConnection parent = ParentConnection.open(() -> {});
        while (true) {
            JsonObject request = parent.take();
            int rows = request.get("rows").getAsInt();
            try {
                Load.Share share = load.call(IntStream.range(0, rows).boxed().iterator()).next();
                parent.reply(new Gson().toJsonTree(share));
            } catch (Exception e) {
                parent.fail("failed", e.toString());
            }
        }
    }
}
