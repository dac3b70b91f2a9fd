package io.quartermaster.ledger.audit;

import io.quartermaster.ledger.Sha256;
import io.quartermaster.ledger.TenantKey;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;

/**
 * An append-only chain of records, one per tenant: each link holds the hash of the one before, so no record can be
 * edited, taken out or moved without the chain saying so, and no chain continues another tenant's.
 *
 * <p>A link's hash is the SHA-256 of four texts joined by a line feed, in UTF-8: its number, the previous hash, the
 * format version of the content, the content. Only the last can hold a line feed, so two links never have the same
 * text, and anybody can check one with {@code sha256sum} or in SQL.
 *
 * <p>Whoever can rewrite the whole rest of a chain can make it hold again; that is found only against an {@link End}
 * kept elsewhere.
 */
public final class HashChain {
    private HashChain() {}

    /** How far a chain goes: the number and the hash of its last link. */
    public record End(long number, ChainHash hash) {}

    /** A record in its place; numbers count from 1 without a gap. */
    public record Link(long number, ChainHash previous, int formatVersion, String content, ChainHash hash) {
        public End end() {
            return new End(number, hash);
        }
    }

    /** What checking a chain found. */
    public sealed interface Verdict {}

    /** Every link is as it was appended. */
    public record Intact(End end) implements Verdict {}

    /** The first record that is not, by its number. */
    public record Broken(long number, Fault fault) implements Verdict {}

    public enum Fault {
        /** The record is not what its hash was made of. */
        EDITED,
        /** The record is not there. */
        MISSING,
        /** The record is there, in another place. */
        REORDERED,
        /** The record was changed and hashed anew: what follows, or the end kept elsewhere, belongs to another one. */
        REWRITTEN
    }

    /** Where a tenant's chain begins: the end of a chain without links. */
    public static End beginning(TenantKey tenant) {
        return new End(0, sha256("quartermaster hash chain\n" + tenant.value()));
    }

    public static Link append(End end, int formatVersion, String content) {
        long number = end.number() + 1;
        return new Link(number, end.hash(), formatVersion, content, hash(number, end.hash(), formatVersion, content));
    }

    /**
     * Checks links in stored order, the first of which follows {@code from}. A long chain is checked page by page, each
     * from the end that the last one gave.
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

    /** Checks also that the chain ends where an end kept elsewhere says, so that its last records cannot be taken off. */
    public static Verdict verify(End from, List<Link> links, End kept) {
        Verdict verdict = verify(from, links);
        return switch (verdict) {
            case Broken broken -> broken;
            case Intact(End end) when end.number() < kept.number() -> new Broken(end.number() + 1, Fault.MISSING);
            case Intact(End end) when !endsIn(from, links, kept) -> new Broken(kept.number(), Fault.REWRITTEN);
            case Intact intact -> intact;
        };
    }

    /** The chain may have grown since the end was kept; then it must pass through it. */
    private static boolean endsIn(End from, List<Link> links, End kept) {
        return from.equals(kept) || links.stream().anyMatch(link -> link.end().equals(kept));
    }

    private static ChainHash hash(long number, ChainHash previous, int formatVersion, String content) {
        return sha256(number + "\n" + previous.hex() + "\n" + formatVersion + "\n" + content);
    }

    private static ChainHash sha256(String text) {
        return new ChainHash(HexFormat.of().formatHex(Sha256.of(text.getBytes(StandardCharsets.UTF_8))));
    }
}
