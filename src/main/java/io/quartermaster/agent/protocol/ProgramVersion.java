package io.quartermaster.agent.protocol;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The version of this program, which {@code pom.xml} states and the build writes into a resource. */
public final class ProgramVersion implements IVersionProvider {

    private static final String RESOURCE = "/quartermaster-version.properties";

    /** Called by picocli. */
    public ProgramVersion() {}

    /** The version, such as {@code 0.1.0}. */
    public static String current() {
        Properties properties = new Properties();
        try (InputStream resource = ProgramVersion.class.getResourceAsStream(RESOURCE)) {
            if (resource == null) {
                throw new IllegalStateException("The build lacks " + RESOURCE + ".");
            }
            properties.load(resource);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return properties.getProperty("version", "");
    }

    @Override
    public String[] getVersion() {
        return new String[] {"Quartermaster " + current()};
    }
}
