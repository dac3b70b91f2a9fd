package io.quartermaster.embedded;

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
            if (!ProcessSessions.succeeds("/bin/sh", "-c", "kill -INT " + process.pid())) {
                process.destroy();
            }
        }
    };

    abstract void send(ProcessHandle process);
}
