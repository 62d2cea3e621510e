package org.djlplan.memplan.internal.child;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonPrimitive;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.child.ChildProcess.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReplyLineTest {

    @Test
    void read_written_isTheSame() {
        for (JsonElement value : List.of(new JsonPrimitive("a\nb\u2028\0"), JsonNull.INSTANCE)) {
            String line = ReplyLine.ofResult(value);
            assertEquals(1, line.lines().count());
            assertEquals(Optional.of(new Answer.Result(value)), ReplyLine.read(line));
        }
        assertEquals(
                Optional.of(new Answer.Failure("REFUSED", "two\nlines")),
                ReplyLine.read(ReplyLine.ofFailure("REFUSED", "two\nlines")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "INFO: created a delegate", "djlplan-repl", " djlplan-reply {}"})
    void read_otherOutput_isNoReply(String line) {
        assertEquals(Optional.empty(), ReplyLine.read(line));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "{}",
                "[]",
                "null",
                "7",
                "{\"result\":",
                "{\"failure\":\"REFUSED\"}",
                "{\"failure\":{},\"message\":\"m\"}",
                "{\"failure\":null,\"message\":\"m\"}",
                "{\"failure\":[],\"message\":\"m\"}",
                "{\"result\":1} and more"
            })
    void read_brokenReply_isLost(String json) {
        Answer answer = ReplyLine.read("djlplan-reply " + json).orElseThrow();
        assertTrue(answer instanceof Answer.Lost, answer.toString());
    }

    @Test
    void read_deeplyNestedReply_throwsNothing() {
        String json = "djlplan-reply {\"result\":" + "[".repeat(100_000);
        Answer answer = ReplyLine.read(json).orElseThrow();
        assertTrue(answer instanceof Answer.Lost, answer.toString());
    }
}
