package io.quartermaster.agent.supervisor;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The last program before the work: it sets the work's own variables and then becomes the work.
 *
 * <p>The programs before it (choom, setpriv, setsid) run with the agent's rights. A variable such as {@code LD_PRELOAD}
 * would make them load the library that it names. So they get a fixed environment. This program runs after the rights
 * were dropped and reads command, folder and variables from its standard input. They appear in no command line and no
 * file, and no shell interprets them.
 *
 * <p>If perl(1) exists, the program is a few lines of Perl, because that starts in milliseconds: an abort callback has
 * no time to lose. Otherwise it is this class, which calls execve(2) through the JDK's foreign functions. In both cases
 * the process, its session and its parent stay, and the work dies with its supervisor. No open file except output and
 * error is passed on, and no signal stays ignored.
 */
public final class WorkStarter {
    /** As shells report them. */
    private static final int NOT_FOUND = 127;

    private static final int NOT_EXECUTABLE = 126;

    /** errno(3) of Linux and macOS alike. */
    private static final int ENOENT = 2;

    private static final int ENOEXEC = 8;
    private static final int EACCES = 13;
    private static final int ENOTDIR = 20;

    private static final int F_SETFD = 2;
    private static final int FD_CLOEXEC = 1;
    private static final int O_RDONLY = 0;

    /** SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM and SIGTERM, on Linux and macOS alike. */
    private static final int[] ENDING_SIGNALS = {1, 2, 3, 13, 14, 15};

    /** prctl(2), on Linux only. */
    private static final int PR_SET_PDEATHSIG = 1;

    private static final long SIGKILL = 9;

    /**
     * The program for perl(1), equivalent to {@link #main}. Execvp(3) searches for the program in the PATH that is set
     * here.
     */
    private static final String PERL = """
            $/ = undef; @texts = split /\\0/, <STDIN>, -1; pop @texts;
            ($supervisor, $folder, $count) = splice @texts, 0, 3;
            @command = splice @texts, 0, $count;
            %ENV = map { split /=/, $_, 2 } @texts;
            sub fail { print STDERR "cannot start: $_[1]\\n"; exit $_[0] }
            chdir $folder or fail(127, "cannot enter $folder");
            open STDIN, "<", "/dev/null";
            $SIG{$_} = "DEFAULT" for qw(HUP INT QUIT PIPE ALRM TERM);
            exit 126 if getppid != $supervisor;
            exec { $command[0] } @command;
            fail(127, "there is no program $command[0]") if $! == 2 or $! == 20;
            fail(126, "cannot execute $command[0] (error " . ($! + 0) . " of execve)");
            """;

    private static final StructLayout CALL_STATE = Linker.Option.captureStateLayout();

    private WorkStarter() {}

    /**
     * The message to the starter: texts that each end with NUL, a character that arguments and variables cannot
     * contain.
     *
     * @param supervisor the process whose end also ends the work
     * @throws IOException if a text holds a NUL character
     */
    static byte[] message(long supervisor, Path folder, List<String> command, Map<String, String> environment)
            throws IOException {
        List<String> texts = new ArrayList<>();
        texts.add(Long.toString(supervisor));
        texts.add(folder.toString());
        texts.add(Integer.toString(command.size()));
        texts.addAll(command);
        new TreeMap<>(environment).forEach((name, value) -> texts.add(name + "=" + value));
        StringBuilder message = new StringBuilder();
        for (String text : texts) {
            if (text.indexOf('\0') >= 0) {
                throw new IOException("its command or environment holds a NUL character");
            }
            message.append(text).append('\0');
        }
        return message.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static List<byte[]> texts(byte[] message) {
        List<byte[]> texts = new ArrayList<>();
        for (int from = 0, at = 0; at < message.length; at++) {
            if (message[at] == 0) {
                texts.add(Arrays.copyOfRange(message, from, at));
                from = at + 1;
            }
        }
        return texts;
    }

    /** The command that starts the work; the programs that drop rights precede it. */
    public static List<String> command(Path jar) {
        return Commands.find("perl").map(WorkStarter::inPerl).orElseGet(() -> inJava(jar));
    }

    static List<String> inPerl(String perl) {
        return List.of(perl, "-f", "-e", PERL);
    }

    /**
     * The command of the starter in Java. Its options keep the JVM from changing what the work inherits: neither the
     * mask of signals (-Xrs) nor the number of files.
     */
    static List<String> inJava(Path jar) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx16m",
                "-Xrs",
                "-XX:-MaxFDLimit",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                jar.toString(),
                WorkStarter.class.getName());
    }

    /** Takes no arguments, because every user of the machine can read those. */
    public static void main(String... arguments) throws Throwable {
        List<byte[]> texts;
        try (FileInputStream in = new FileInputStream(FileDescriptor.in)) {
            texts = texts(in.readAllBytes());
        }
        long supervisor = number(texts.get(0));
        byte[] folder = texts.get(1);
        int end = 3 + (int) number(texts.get(2));
        List<byte[]> command = texts.subList(3, end);
        List<byte[]> environment = texts.subList(end, texts.size());
        try (Arena memory = Arena.ofConfined()) {
            System.exit(new Calls(memory).become(supervisor, folder, command, environment));
        }
    }

    private static long number(byte[] text) {
        return Long.parseLong(new String(text, StandardCharsets.US_ASCII));
    }

    /** The functions of the operating system, with the memory for their arguments. Threads: one. */
    private static final class Calls {
        private final Linker linker = Linker.nativeLinker();
        private final Arena memory;
        private final MemorySegment state;
        private final MethodHandle execve;

        Calls(Arena memory) {
            this.memory = memory;
            this.state = memory.allocate(CALL_STATE);
            this.execve = linker.downcallHandle(
                    address("execve"),
                    FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS),
                    Linker.Option.captureCallState("errno"));
        }

        private MemorySegment address(String function) {
            return linker.defaultLookup().find(function).orElseThrow();
        }

        private MethodHandle variadic(String function, int fixed, MemoryLayout... parameters) {
            return linker.downcallHandle(
                    address(function),
                    FunctionDescriptor.of(JAVA_INT, parameters),
                    Linker.Option.firstVariadicArg(fixed));
        }

        private MethodHandle plain(String function, MemoryLayout... parameters) {
            return linker.downcallHandle(address(function), FunctionDescriptor.of(JAVA_INT, parameters));
        }

        /** Becomes the work. Returns only if the program cannot be executed, with the exit code for that. */
        int become(long supervisor, byte[] folder, List<byte[]> command, List<byte[]> environment) throws Throwable {
            if ((int) plain("chdir", ADDRESS).invokeExact(text(folder)) != 0) {
                return fail(NOT_FOUND, "cannot enter " + new String(folder, StandardCharsets.UTF_8));
            }
            readNothing();
            ignoreNoSignal();
            closeOnExec();
            endWith(supervisor);
            MemorySegment variables = array(environment);
            int last = ENOENT;
            for (byte[] program : candidates(command.getFirst(), environment)) {
                last = execute(text(program), array(command), variables);
                if (last == ENOEXEC) {
                    // The shell runs a script that names no interpreter, as with execvp(3).
                    List<byte[]> script = new ArrayList<>(command);
                    script.set(0, program);
                    script.addFirst("/bin/sh".getBytes(StandardCharsets.UTF_8));
                    last = execute(text(script.getFirst()), array(script), variables);
                }
                if (last != ENOENT && last != ENOTDIR && last != EACCES) {
                    break;
                }
            }
            String program = new String(command.getFirst(), StandardCharsets.UTF_8);
            return last == ENOENT || last == ENOTDIR
                    ? fail(NOT_FOUND, "there is no program " + program)
                    : fail(NOT_EXECUTABLE, "cannot execute %s (error %d of execve)".formatted(program, last));
        }

        private int execute(MemorySegment program, MemorySegment arguments, MemorySegment variables) throws Throwable {
            int _ = (int) execve.invokeExact(state, program, arguments, variables);
            return (int) CALL_STATE
                    .varHandle(MemoryLayout.PathElement.groupElement("errno"))
                    .get(state, 0L);
        }

        /**
         * The possible paths of the program: the command's name if it holds a slash, otherwise the name in each folder
         * of the work's own PATH.
         */
        private static List<byte[]> candidates(byte[] name, List<byte[]> environment) {
            String program = new String(name, StandardCharsets.ISO_8859_1);
            if (program.contains("/")) {
                return List.of(name);
            }
            String path = environment.stream()
                    .map(variable -> new String(variable, StandardCharsets.ISO_8859_1))
                    .filter(variable -> variable.startsWith("PATH="))
                    .map(variable -> variable.substring("PATH=".length()))
                    .findFirst()
                    .orElse("/usr/bin:/bin");
            List<byte[]> found = new ArrayList<>();
            for (String folder : path.split(":", -1)) {
                String candidate = folder.isEmpty() ? program : folder + "/" + program;
                found.add(candidate.getBytes(StandardCharsets.ISO_8859_1));
            }
            return found;
        }

        /** Replaces standard input, which is the pipe of the message. */
        private void readNothing() throws Throwable {
            int nothing = (int) variadic("open", 2, ADDRESS, JAVA_INT).invokeExact(text("/dev/null"), O_RDONLY);
            int _ = (int) plain("dup2", JAVA_INT, JAVA_INT).invokeExact(nothing, 0);
        }

        /** Resets ignored signals, which execve(2) passes on: for example SIGHUP, if nohup(1) started the agent. */
        private void ignoreNoSignal() throws Throwable {
            MethodHandle signal =
                    linker.downcallHandle(address("signal"), FunctionDescriptor.of(ADDRESS, JAVA_INT, ADDRESS));
            for (int number : ENDING_SIGNALS) {
                MemorySegment _ = (MemorySegment) signal.invokeExact(number, MemorySegment.NULL);
            }
        }

        /** Closes, at execve, the files that the JVM has opened or inherited. */
        private void closeOnExec() throws Throwable {
            MethodHandle fcntl = variadic("fcntl", 2, JAVA_INT, JAVA_INT, JAVA_INT);
            Path own = Path.of("/proc/self/fd");
            try (Stream<Path> files = Files.list(Files.isDirectory(own) ? own : Path.of("/dev/fd"))) {
                for (Path file : (Iterable<Path>) files::iterator) {
                    int number = Integer.parseInt(file.getFileName().toString());
                    if (number > 2) {
                        int _ = (int) fcntl.invokeExact(number, F_SETFD, FD_CLOEXEC);
                    }
                }
            }
        }

        /**
         * Lets the work end with its supervisor. The kernel stores this per thread, and the thread that calls execve is
         * the one that stays.
         */
        private void endWith(long supervisor) throws Throwable {
            if (Files.isDirectory(Path.of("/proc/self"))) {
                int _ = (int) variadic("prctl", 1, JAVA_INT, JAVA_LONG).invokeExact(PR_SET_PDEATHSIG, SIGKILL);
                @Nullable
                ProcessHandle parent = ProcessHandle.current().parent().orElse(null);
                if (parent == null || parent.pid() != supervisor) {
                    Runtime.getRuntime().halt(NOT_EXECUTABLE);
                }
            }
        }

        private MemorySegment text(String text) {
            return text(text.getBytes(StandardCharsets.UTF_8));
        }

        private MemorySegment text(byte[] bytes) {
            MemorySegment text = memory.allocate(bytes.length + 1L);
            MemorySegment.copy(bytes, 0, text, java.lang.foreign.ValueLayout.JAVA_BYTE, 0, bytes.length);
            return text;
        }

        private MemorySegment array(List<byte[]> texts) {
            MemorySegment array = memory.allocate(ADDRESS, texts.size() + 1L);
            for (int i = 0; i < texts.size(); i++) {
                array.setAtIndex(ADDRESS, i, text(texts.get(i)));
            }
            return array;
        }

        private static int fail(int exitCode, String message) {
            System.err.println("cannot start: " + message);
            return exitCode;
        }
    }
}
