package org.djlplan.memplan.internal.measure;

import java.util.stream.Collectors;
import org.djlplan.memplan.internal.measure.MeasuringChild.Limits;
import org.djlplan.memplan.spi.CandidateException;

/** Starts a measuring process, prints its process id and folder, and makes it hang. */
final class FakeParent {

    private FakeParent() {}

    public static void main(String[] args) throws Exception {
        ProcessRunner runner = ProcessRunnerTest.start(Limits.DEFAULT);
        String pid = runner.pid().stream().map(String::valueOf).collect(Collectors.joining());
        try {
            runner.prepare(FakeRunner.Behaviour.REFUSED_WHEN_PREPARED.candidate());
        } catch (CandidateException e) {
            System.out.println(pid + " " + e.getMessage());
        }
        runner.prepare(FakeRunner.Behaviour.HANG_WHEN_PREPARED.candidate());
    }
}
