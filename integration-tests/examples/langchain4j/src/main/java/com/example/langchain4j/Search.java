package com.example.langchain4j;

import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.store.embedding.EmbeddingMatch;
import dev.langchain4j.store.embedding.EmbeddingSearchRequest;
import dev.langchain4j.store.embedding.inmemory.InMemoryEmbeddingStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Finds the lines of a file that are closest to a question, and prints what djl-plan did. */
public final class Search {

    private static final int MOST_RESULTS = 3;

    private Search() {}

    /** Arguments: the folder of an encoder, a file of lines, and the words of a question. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 3) {
            System.err.println("usage: java -jar target/langchain4j.jar FOLDER LINES QUESTION...");
            System.exit(2);
        }
        String question = String.join(" ", Arrays.asList(arguments).subList(2, arguments.length));
        List<TextSegment> segments =
                Files.readAllLines(Path.of(arguments[1])).stream().map(TextSegment::from).toList();
        try (DjlEmbeddingModel model = new DjlEmbeddingModel(Path.of(arguments[0]))) {
            InMemoryEmbeddingStore<TextSegment> store = new InMemoryEmbeddingStore<>();
            store.addAll(model.embedAll(segments).content(), segments);
            EmbeddingSearchRequest request =
                    EmbeddingSearchRequest.builder()
                            .queryEmbedding(model.embed(question).content())
                            .maxResults(MOST_RESULTS)
                            .build();
            for (EmbeddingMatch<TextSegment> match : store.search(request).matches()) {
                System.out.println(match.score() + " " + match.embedded().text());
            }
            System.out.println(model.report());
        }
    }
}
