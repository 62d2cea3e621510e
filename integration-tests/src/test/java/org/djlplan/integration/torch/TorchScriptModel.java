package org.djlplan.integration.torch;

import ai.djl.MalformedModelException;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ModelNotFoundException;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A TorchScript file among the test resources.
 *
 * @param name the file's name without its ending
 * @param inputSets inputs of several shapes that it takes
 * @param stateful whether outputs depend on earlier predictions
 * @param outputSizesVary whether the outputs' shapes depend on the inputs' values
 */
public record TorchScriptModel(
        String name, List<ModelInputs> inputSets, boolean stateful, boolean outputSizesVary) {

    public TorchScriptModel {
        inputSets = ImmutableList.copyOf(inputSets);
    }

    /** Returns the file. */
    public Path file() {
        URL resource = TorchScriptModel.class.getResource("/torchscript/" + name + ".pt");
        if (resource == null) {
            throw new IllegalStateException("no file of " + name);
        }
        try {
            return Path.of(resource.toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns stock criteria for this model, with arrays as input and output. */
    public Criteria.Builder<NDList, NDList> criteria() {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optEngine("PyTorch")
                .optModelPath(file());
    }

    /** Loads the model as stock. */
    public ZooModel<NDList, NDList> loadStock()
            throws ModelNotFoundException, MalformedModelException, IOException {
        return criteria().build().loadModel();
    }

    @Override
    public String toString() {
        return name;
    }
}
