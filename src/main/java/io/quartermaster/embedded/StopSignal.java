package io.quartermaster.embedded;

/** The signal that asks a child to end. */
enum StopSignal {
    /** SIGTERM. */
    TERMINATE {
        @Override
        void send(ProcessHandle process) {
            process.destroy();
        }
    },
    /**
     * SIGINT: for PostgreSQL this is the fast shutdown, which does not wait for clients to disconnect. The JDK cannot
     * send it.
     */
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
