package com.example.springai;

import ai.djl.ModelException;
import ai.djl.huggingface.translator.TextEmbeddingTranslatorFactory;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.file.Path;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.metrics.PlanMetrics;
import org.djlplan.memplan.metrics.PoolMetrics;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.vectorstore.SimpleVectorStore;
import org.springframework.ai.vectorstore.VectorStore;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** A web service that stores texts by their embeddings, and finds the closest ones. */
@SpringBootApplication
public class SearchApplication {

    /** Starts the application. */
    public static void main(String[] arguments) {
        SpringApplication.run(SearchApplication.class, arguments);
    }

    @Bean(destroyMethod = "close")
    ZooModel<String, float[]> model(@Value("${embedding.model}") Path folder)
            throws IOException, ModelException {
        return Criteria.builder()
                .setTypes(String.class, float[].class)
                .optEngine("PyTorch")
                .optModelPath(folder)
                // djl-plan's line. Texts that are passed at once run in groups of similar lengths.
                .optTranslatorFactory(
                        PlannedTranslatorFactory.wrap(new TextEmbeddingTranslatorFactory())
                                .with("memplan.batchTokens", 4096))
                .build()
                .loadModel();
    }

    @Bean
    VectorStore vectorStore(EmbeddingModel embeddings) {
        return SimpleVectorStore.builder(embeddings).build();
    }

    @Bean
    PlanMetrics planMetrics(ZooModel<String, float[]> model) {
        return new PlanMetrics(model);
    }

    @Bean
    PoolMetrics poolMetrics() {
        return new PoolMetrics();
    }
}
