package io.quartermaster.ledger.audit;

import io.quartermaster.ledger.Sha256;
import io.quartermaster.ledger.TenantKey;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;

/**
 * An append-only chain of records, one per tenant. Each link holds the hash of the previous link, so a check detects
 * every record that was edited, removed or moved. No chain continues another tenant's.
 *
 * <p>A link's hash is the SHA-256 of four texts joined by a line feed, in UTF-8: its number, the previous hash, the
 * format version of the content, the content. Only the content can hold a line feed, so two links never have the same
 * text. Auditors can check a link with {@code sha256sum} or in SQL.
 *
 * <p>An attacker who can rewrite the whole rest of a chain can make it consistent again. Only an {@link End} that is
 * kept elsewhere reveals that.
 */
public final class HashChain {
    private HashChain() {}

    /** The end of a chain: the number and the hash of its last link. */
    public record End(long number, ChainHash hash) {}

    /** A record with its position; numbers count from 1 without a gap. */
    public record Link(long number, ChainHash previous, int formatVersion, String content, ChainHash hash) {
        public End end() {
            return new End(number, hash);
        }
    }

    /** The result of checking a chain. */
    public sealed interface Verdict {}

    /** All links are intact. */
    public record Intact(End end) implements Verdict {}

    /** The number of the first record that is not intact. */
    public record Broken(long number, Fault fault) implements Verdict {}

    public enum Fault {
        /** The record does not match its hash. */
        EDITED,
        /** The record is missing. */
        MISSING,
        /** The record is at another position. */
        REORDERED,
        /**
         * The record was changed and hashed again: the links after it, or the end kept elsewhere, belong to another
         * record.
         */
        REWRITTEN
    }

    /** The beginning of a tenant's chain: the end of a chain without links. */
    public static End beginning(TenantKey tenant) {
        return new End(0, sha256("quartermaster hash chain\n" + tenant.value()));
    }

    public static Link append(End end, int formatVersion, String content) {
        long number = end.number() + 1;
        return new Link(number, end.hash(), formatVersion, content, hash(number, end.hash(), formatVersion, content));
    }

    /**
     * Checks links in stored order, the first of which follows {@code from}. A long chain is checked page by page; each
     * page begins at the end that the previous one returned.
     */
    public static Verdict verify(End from, List<Link> links) {
        End end = from;
        for (int i = 0; i < links.size(); i++) {
            Link link = links.get(i);
            long due = end.number() + 1;
            if (!link.hash().equals(hash(link.number(), link.previous(), link.formatVersion(), link.content()))) {
                return new Broken(due, Fault.EDITED);
            }
            if (link.number() != due) {
                boolean elsewhere = link.number() < due
                        || links.subList(i, links.size()).stream().anyMatch(later -> later.number() == due);
                return new Broken(due, elsewhere ? Fault.REORDERED : Fault.MISSING);
            }
            if (!link.previous().equals(end.hash())) {
                return new Broken(end.number(), Fault.REWRITTEN);
            }
            end = link.end();
        }
        return new Intact(end);
    }

    /**
     * Also checks that the chain reaches an end that is kept elsewhere, so that a removal of its last records is
     * detected.
     */
    public static Verdict verify(End from, List<Link> links, End storedEnd) {
        Verdict verdict = verify(from, links);
        return switch (verdict) {
            case Broken broken -> broken;
            case Intact(End end) when end.number() < storedEnd.number() -> new Broken(end.number() + 1, Fault.MISSING);
            case Intact(End end)
            when !endsIn(from, links, storedEnd) -> new Broken(storedEnd.number(), Fault.REWRITTEN);
            case Intact intact -> intact;
        };
    }

    /** The chain may have grown since the end was kept; then it must contain that end. */
    private static boolean endsIn(End from, List<Link> links, End storedEnd) {
        return from.equals(storedEnd)
                || links.stream().anyMatch(link -> link.end().equals(storedEnd));
    }

    private static ChainHash hash(long number, ChainHash previous, int formatVersion, String content) {
        return sha256(number + "\n" + previous.hex() + "\n" + formatVersion + "\n" + content);
    }

    private static ChainHash sha256(String text) {
        return new ChainHash(HexFormat.of().formatHex(Sha256.of(text.getBytes(StandardCharsets.UTF_8))));
    }
}
