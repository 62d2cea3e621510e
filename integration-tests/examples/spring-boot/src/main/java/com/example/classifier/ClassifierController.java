package com.example.classifier;

import ai.djl.inference.Predictor;
import ai.djl.modality.Classifications;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import java.io.InputStream;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Classifies the image that a request brings. */
@RestController
public class ClassifierController {

    private final ZooModel<Image, Classifications> model;

    ClassifierController(ZooModel<Image, Classifications> model) {
        this.model = model;
    }

    @PostMapping("/classify")
    String classify(InputStream body) throws IOException, TranslateException {
        Image image = ImageFactory.getInstance().fromInputStream(body);
        try (Predictor<Image, Classifications> predictor = model.newPredictor()) {
            return predictor.predict(image).best().getClassName();
        }
    }
}
