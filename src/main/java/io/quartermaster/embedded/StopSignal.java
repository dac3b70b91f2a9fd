package io.quartermaster.embedded;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** How a child is asked to end. */
enum StopSignal {
    /** SIGTERM. */
    TERMINATE {
        @Override
        void send(ProcessHandle process) {
            process.destroy();
        }
    },
    /** SIGINT: to PostgreSQL this is the fast shutdown, which does not wait for clients to leave; the JDK cannot send it. */
    INTERRUPT {
        @Override
        void send(ProcessHandle process) {
            try {
                Process kill = new ProcessBuilder("/bin/sh", "-c", "kill -INT " + process.pid()).start();
                if (kill.waitFor(5, TimeUnit.SECONDS) && kill.exitValue() == 0) {
                    return;
                }
            } catch (IOException unusable) {
                process.destroy();
                return;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            process.destroy();
        }
    };

    abstract void send(ProcessHandle process);
}
