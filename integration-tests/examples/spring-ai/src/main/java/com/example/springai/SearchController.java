package com.example.springai;

import java.util.List;
import org.springframework.ai.document.Document;
import org.springframework.ai.vectorstore.SearchRequest;
import org.springframework.ai.vectorstore.VectorStore;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Stores the lines that are posted, and finds those that are closest to a question. */
@RestController
public class SearchController {

    private static final int MOST_RESULTS = 3;

    private final VectorStore store;

    SearchController(VectorStore store) {
        this.store = store;
    }

    /** A line and its similarity, from 0 to 1. */
    public record Found(String text, Double score) {}

    @PostMapping("/add")
    void add(@RequestBody String lines) {
        store.add(lines.lines().map(Document::new).toList());
    }

    @GetMapping("/search")
    List<Found> search(@RequestParam String question) {
        return store
                .similaritySearch(
                        SearchRequest.builder().query(question).topK(MOST_RESULTS).build())
                .stream()
                .map(document -> new Found(document.getText(), document.getScore()))
                .toList();
    }
}
