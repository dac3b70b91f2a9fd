package io.quartermaster.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Set;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.ResourceLocksProvider;

/**
 * The class starts the processes that it tests, and mostly waits for them, so it runs beside other classes. Its methods
 * run one after the other.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(providers = OwnProcesses.OfTheClass.class)
public @interface OwnProcesses {

    /** A lock that only the class itself takes. The methods of a class with a lock share its thread. */
    final class OfTheClass implements ResourceLocksProvider {

        @Override
        public Set<Lock> provideForClass(Class<?> testClass) {
            return Set.of(new Lock(testClass.getName()));
        }
    }
}
