package org.djlplan.integration.objectstores;

import java.io.IOException;
import java.io.Serializable;
import java.time.Duration;
import java.util.Optional;
import org.djlplan.memplan.spi.SharedStore;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** A folder of a bucket of S3; region, endpoint and credentials are those of the SDK's defaults. */
public class S3Store implements SharedStore, Serializable {

    private static final long serialVersionUID = 1;

    private final String bucket;
    private final String folder;
    private transient S3Client client;

    public S3Store(String bucket, String folder) {
        this.bucket = bucket;
        this.folder = folder;
    }

    @Override
    public Optional<byte[]> get(String name) throws IOException {
        try (ResponseInputStream<GetObjectResponse> in =
                client().getObject(request -> request.bucket(bucket).key(key(name)))) {
            byte[] content = in.readNBytes(MOST_BYTES + 1);
            if (content.length > MOST_BYTES) {
                in.abort();
                throw new IOException(name + " is too large");
            }
            return Optional.of(content);
        } catch (NoSuchKeyException e) {
            return Optional.empty();
        }
    }

    @Override
    public void put(String name, byte[] content) {
        client().putObject(
                        request -> request.bucket(bucket).key(key(name)),
                        RequestBody.fromBytes(content));
    }

    /** 412: it is there; 409: somebody is just making it. */
    @Override
    public boolean putIfAbsent(String name, byte[] content) {
        try {
            client().putObject(
                            request -> request.bucket(bucket).key(key(name)).ifNoneMatch("*"),
                            RequestBody.fromBytes(content));
            return true;
        } catch (S3Exception e) {
            if (e.statusCode() == 412 || e.statusCode() == 409) {
                return false;
            }
            throw e;
        }
    }

    private String key(String name) {
        return folder + "/" + name;
    }

    /** A PUT whose answer was lost would find, tried again, what it had made itself. */
    private synchronized S3Client client() {
        if (client == null) {
            client =
                    S3Client.builder()
                            .httpClientBuilder(UrlConnectionHttpClient.builder())
                            .overrideConfiguration(
                                    all ->
                                            all.retryStrategy(AwsRetryStrategy.doNotRetry())
                                                    .apiCallTimeout(Duration.ofSeconds(5)))
                            .build();
        }
        return client;
    }

    @Override
    public String toString() {
        return "s3://" + bucket + "/" + folder;
    }
}
