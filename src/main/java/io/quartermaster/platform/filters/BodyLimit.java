package io.quartermaster.platform.filters;

import io.quarkus.vertx.http.runtime.VertxHttpConfig;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import jakarta.enterprise.inject.Instance;
import jakarta.ws.rs.ext.Provider;
import jakarta.ws.rs.ext.ReaderInterceptor;
import jakarta.ws.rs.ext.ReaderInterceptorContext;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/** Refuses bodies of undeclared length that turn out to be too large while the service reads them. */
@Provider
public final class BodyLimit implements ReaderInterceptor {

    /** Resolved when a body is read: this object is created before the settings of the listener are known. */
    private final Instance<VertxHttpConfig> config;

    BodyLimit(Instance<VertxHttpConfig> config) {
        this.config = config;
    }

    static long maxBytes(VertxHttpConfig config) {
        return config.limits().maxBodySize().orElseThrow().asLongValue();
    }

    static Problem refusal(long maxBytes) {
        Problem.Field body = new Problem.Field("body", "the body is too large", "at most " + maxBytes + " bytes");
        return Problem.of(413, "too-large", body.field() + ": " + body.message(), List.of(body));
    }

    @Override
    public Object aroundReadFrom(ReaderInterceptorContext context) throws IOException {
        context.setInputStream(new LimitedStream(context.getInputStream(), maxBytes(config.get())));
        return context.proceed();
    }

    private static final class LimitedStream extends FilterInputStream {
        private final long maxBytes;
        private long read;

        LimitedStream(InputStream body, long maxBytes) {
            super(body);
            this.maxBytes = maxBytes;
        }

        @Override
        public int read() throws IOException {
            int next = super.read();
            count(next < 0 ? 0 : 1);
            return next;
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            int some = super.read(bytes, from, length);
            count(Math.max(some, 0));
            return some;
        }

        private void count(int bytes) {
            read += bytes;
            if (read > maxBytes) {
                throw new ProblemException(refusal(maxBytes));
            }
        }
    }
}
