package com.example.classifier;

import ai.djl.inference.Predictor;
import ai.djl.modality.Classifications;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.io.InputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Answers an image in a request with the most probable classes and their probabilities. */
@RestController
public class ClassifierController {

    private final ZooModel<Image, Classifications> model;

    ClassifierController(ZooModel<Image, Classifications> model) {
        this.model = model;
    }

    @PostMapping("/classify")
    Map<String, Double> classify(
            InputStream body, @RequestParam(name = "top", defaultValue = "1") int top)
            throws IOException, TranslateException {
        Image image = ImageFactory.getInstance().fromInputStream(body);
        try (Predictor<Image, Classifications> predictor = model.newPredictor()) {
            Map<String, Double> probabilities = new LinkedHashMap<>();
            predictor
                    .predict(image)
                    .topK(top)
                    .forEach(c -> probabilities.put(c.getClassName(), c.getProbability()));
            return probabilities;
        }
    }
}
