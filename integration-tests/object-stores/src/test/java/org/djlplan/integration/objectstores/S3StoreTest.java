package org.djlplan.integration.objectstores;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.djlplan.integration.objectstores.Machine.Choice;
import org.djlplan.integration.objectstores.ObjectServer.Fault;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.spi.SharedStore;
import org.djlplan.memplan.store.Lease;
import org.djlplan.memplan.store.TimedStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A fleet whose store is a bucket, by Amazon's own client. */
@Tag("pipelines")
@Timeout(120)
class S3StoreTest {

    private static final String SHARED = "shared";
    private static final String NAME = "net-0123456789abcdef.v3.profile.json";

    private final S3Store store = new S3Store(ObjectServer.BUCKET, SHARED);

    @TempDir Path folder;

    private ObjectServer server;

    @BeforeEach
    void start() throws Exception {
        server = new ObjectServer();
        Map.of(
                        "aws.accessKeyId",
                        ObjectServer.KEY,
                        "aws.secretAccessKey",
                        ObjectServer.SECRET,
                        "aws.region",
                        "eu-central-1",
                        "aws.endpointUrlS3",
                        server.endpoint(),
                        // S3Proxy 2.9 knows no signed trailers, which the client sends otherwise.
                        "aws.requestChecksumCalculation",
                        "WHEN_REQUIRED")
                .forEach(System::setProperty);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void entries_putTwice_theFirstOrTheLast() throws Exception {
        assertEquals(Optional.empty(), store.get(NAME));
        assertTrue(store.putIfAbsent(NAME, bytes("first")));
        assertFalse(store.putIfAbsent(NAME, bytes("second")));
        assertArrayEquals(bytes("first"), store.get(NAME).orElseThrow());
        store.put(NAME, bytes("third"));
        assertArrayEquals(bytes("third"), store.get(NAME).orElseThrow());
    }

    /** A factory of a closure carries it. */
    @Test
    void serialized_isTheSameStore() throws Exception {
        store.put(NAME, bytes("first"));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(store);
        }
        try (ObjectInputStream in =
                new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            SharedStore other = (SharedStore) in.readObject();
            assertArrayEquals(bytes("first"), other.get(NAME).orElseThrow());
        }
    }

    @Test
    void get_wrongSecret_isAnErrorAndNotNothing() {
        System.setProperty("aws.secretAccessKey", "of somebody else");
        TimedStore timed = new TimedStore(store, Duration.ofSeconds(20));
        assertThrows(IOException.class, () -> timed.get(NAME));
    }

    @Test
    void get_noSuchBucket_isAnErrorAndNotNothing() {
        TimedStore timed =
                new TimedStore(new S3Store("nobodys-bucket", SHARED), Duration.ofSeconds(20));
        assertThrows(IOException.class, () -> timed.get(NAME));
    }

    /** Returns what those got that got something, of many that began at once. */
    private static <T> List<T> atOnce(List<Callable<Optional<T>>> wishes) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(wishes.size());
        try {
            CyclicBarrier start = new CyclicBarrier(wishes.size());
            List<Future<Optional<T>>> answers = new ArrayList<>();
            for (Callable<Optional<T>> wish : wishes) {
                answers.add(
                        threads.submit(
                                () -> {
                                    start.await();
                                    return wish.call();
                                }));
            }
            List<T> got = new ArrayList<>();
            for (Future<Optional<T>> answer : answers) {
                answer.get().ifPresent(got::add);
            }
            return got;
        } finally {
            threads.shutdownNow();
        }
    }

    /** Machines that begin at once. */
    @Test
    void putIfAbsent_manyAtOnce_oneMakesIt() throws Exception {
        for (int round = 0; round < 40; round++) {
            String name = NAME + round;
            List<Callable<Optional<String>>> machines = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                Optional<String> machine = Optional.of("machine " + i);
                machines.add(() -> machine.filter(each -> store.putIfAbsent(name, bytes(each))));
            }
            List<String> made = atOnce(machines);
            assertEquals(1, made.size(), made::toString);
            assertArrayEquals(bytes(made.get(0)), store.get(name).orElseThrow());
        }
    }

    /** The client does not try again: it would be told that another one has made it. */
    @Test
    void putIfAbsent_answerIsLost_isAnErrorAndNotNo() throws Exception {
        TimedStore timed = new TimedStore(store, Duration.ofSeconds(20));
        server.set(Fault.LOSES_ANSWERS);
        assertThrows(IOException.class, () -> timed.putIfAbsent(NAME, bytes("first")));
        server.set(Fault.NONE);
        assertArrayEquals(bytes("first"), store.get(NAME).orElseThrow());
    }

    /** Each in a JVM of its own. */
    @Test
    void load_twoMachinesAtOnce_oneMeasuresAndBothServeTheSame() throws Exception {
        Path one = folder.resolve("one");
        Path two = folder.resolve("two");
        Process first = Machine.start(one, SHARED);
        Process second = Machine.start(two, SHARED);
        List<Choice> choices = List.of(Machine.end(first, one), Machine.end(second, two));
        Set<String> origins = new TreeSet<>();
        Set<String> ids = new TreeSet<>();
        choices.forEach(choice -> origins.add(choice.origin()));
        choices.forEach(choice -> ids.add(choice.choiceId()));
        assertEquals(Set.of("MEASURED", "STORED"), origins, choices::toString);
        assertEquals(1, ids.size(), choices::toString);
    }

    @Test
    void load_serverIsAway_nothingIsMeasured() throws Exception {
        server.close();
        DelegationReport report = Machine.load(folder, SHARED, "blocking");
        assertEquals("UNVERIFIED", report.origin(), report.reason());
        assertTrue(report.reason().contains("does not work"), report.reason());
    }

    @Test
    void load_silentServer_isNotWaitedForAndNothingIsMeasured() throws Exception {
        server.set(Fault.SILENT);
        DelegationReport report = Machine.load(folder, SHARED, "background");
        assertEquals("UNVERIFIED", report.origin(), report.reason());
    }

    /** Others wait by a clock of the test. */
    @Test
    void lease_machineDiesWhileItMeasures_oneOfManyTakesOver() throws Exception {
        AtomicLong nanos = new AtomicLong();
        Ticker clock =
                new Ticker() {
                    @Override
                    public long read() {
                        return nanos.get();
                    }
                };
        Process machine = Machine.start(folder.resolve("mortal"), SHARED);
        String first = server.awaitWritten(".lease.1");
        machine.destroyForcibly().waitFor();
        String name = first.substring(first.lastIndexOf('/') + 1).replace(".lease.1", "");
        List<Callable<Optional<Lease>>> others = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Lease.Wanted other = new Lease.Wanted(store, name, Lease.Terms.DEFAULT, clock);
            assertEquals(Optional.empty(), other.tryAcquire());
            others.add(other::tryAcquire);
        }
        nanos.addAndGet(Lease.Terms.DEFAULT.lapse().toNanos());
        assertEquals(1, atOnce(others).size());
    }
}
