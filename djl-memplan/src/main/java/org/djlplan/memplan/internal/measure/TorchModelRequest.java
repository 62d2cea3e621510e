package org.djlplan.memplan.internal.measure;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.rewrite.RecipeTrials;
import org.djlplan.memplan.internal.rewrite.SampleInputs;
import org.djlplan.memplan.internal.rewrite.SampleInputs.Frequent;
import org.djlplan.memplan.internal.rewrite.SampledRequests;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.Tolerance;

/**
 * The request to a measuring process to open a TorchScript model. It contains inputs of the
 * application's predictions, and is sent through a pipe, never through a file.
 *
 * @param file the model's file
 * @param identity of the file that was loaded; another file is not opened
 * @param requests predictions of the application
 * @param tolerance the tolerance for the outputs
 * @param threads the engine's threads for each operator
 * @param need the memory that the process needs
 */
record TorchModelRequest(
        Path file,
        String identity,
        SampledRequests requests,
        Tolerance tolerance,
        int threads,
        MemoryNeed need)
        implements ModelRequest {

    static final String SAMPLES = "samples";

    private static final String COMPARED = "compared";
    private static final String ARRAYS = "arrays";

    private static final String THREADS = "ai.djl.pytorch.num_threads";

    TorchModelRequest {
        file = file.toAbsolutePath();
    }

    @Override
    public String delegate() {
        return "PyTorch";
    }

    @Override
    public boolean ownDelegate() {
        return false;
    }

    @Override
    public boolean usesDjl() {
        return true;
    }

    /** Loading libtorch and each candidate takes many seconds of processor time. */
    @Override
    public int niceness() {
        return 10;
    }

    @Override
    public CandidateRunner open() throws IOException, UnsupportedPlatformException {
        if (threads > 0) {
            // Read when the engine is loaded.
            System.setProperty(THREADS, Integer.toString(threads));
        }
        return RecipeTrials.open(file, identity, requests, tolerance);
    }

    @Override
    public JsonObject toJson() {
        JsonObject json = new JsonObject();
        json.addProperty("file", file.toString());
        json.addProperty("identity", identity);
        json.addProperty("tolerance", tolerance.toString());
        json.addProperty("threads", threads);
        json.addProperty("heapBytes", need.heapBytes());
        json.addProperty("candidateBytes", need.candidateBytes());
        JsonArray samples = new JsonArray();
        requests.measured().forEach(each -> samples.add(toJson(each)));
        json.add(SAMPLES, samples);
        JsonArray compared = new JsonArray();
        requests.compared().forEach(each -> compared.add(toJson(each)));
        json.add(COMPARED, compared);
        return json;
    }

    private static JsonObject toJson(Frequent sample) {
        JsonObject json = new JsonObject();
        json.addProperty("predictions", sample.predictions());
        json.add(ARRAYS, toJson(sample.inputs()));
        return json;
    }

    private static JsonArray toJson(SampleInputs inputs) {
        JsonArray arrays = new JsonArray();
        for (int i = 0; i < inputs.types().size(); i++) {
            JsonArray shape = new JsonArray();
            inputs.types().get(i).shape().forEach(shape::add);
            JsonObject array = new JsonObject();
            array.addProperty("type", inputs.types().get(i).dataType());
            array.add("shape", shape);
            array.addProperty("name", inputs.names().get(i));
            byte[] values = new byte[inputs.values().get(i).remaining()];
            inputs.values().get(i).duplicate().get(values);
            array.addProperty("values", Base64.getEncoder().encodeToString(values));
            arrays.add(array);
        }
        return arrays;
    }

    /** Parses the result of {@link #toJson}; throws a RuntimeException if it is something else. */
    static TorchModelRequest fromJson(JsonObject json) {
        List<Frequent> samples = new ArrayList<>();
        for (JsonElement each : json.getAsJsonArray(SAMPLES)) {
            JsonObject sample = each.getAsJsonObject();
            samples.add(
                    new Frequent(
                            inputs(sample.getAsJsonArray(ARRAYS)),
                            sample.get("predictions").getAsLong()));
        }
        List<SampleInputs> compared = new ArrayList<>();
        json.getAsJsonArray(COMPARED).forEach(each -> compared.add(inputs(each.getAsJsonArray())));
        return new TorchModelRequest(
                Path.of(json.get("file").getAsString()),
                json.get("identity").getAsString(),
                new SampledRequests(samples, compared),
                ModelRequest.tolerance(json),
                json.get("threads").getAsInt(),
                new MemoryNeed(
                        json.get("heapBytes").getAsLong(), json.get("candidateBytes").getAsLong()));
    }

    private static SampleInputs inputs(JsonArray arrays) {
        List<ArrayType> types = new ArrayList<>();
        List<String> names = new ArrayList<>();
        List<ByteBuffer> values = new ArrayList<>();
        for (JsonElement element : arrays) {
            JsonObject array = element.getAsJsonObject();
            List<Long> shape = new ArrayList<>();
            array.getAsJsonArray("shape").forEach(size -> shape.add(size.getAsLong()));
            types.add(new ArrayType(array.get("type").getAsString(), shape));
            names.add(array.get("name").getAsString());
            values.add(
                    ByteBuffer.wrap(Base64.getDecoder().decode(array.get("values").getAsString())));
        }
        return new SampleInputs(types, names, values);
    }
}
