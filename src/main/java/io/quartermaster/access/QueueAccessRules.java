package io.quartermaster.access;

import java.util.List;

/** The access rules of one queue. Rules only grant access: no rule can exclude a caller that another rule admits. */
public record QueueAccessRules(List<AccessRule> rules) {

    /** The rules of a queue without any: they admit no caller. */
    public static final QueueAccessRules NONE = new QueueAccessRules(List.of());

    public QueueAccessRules {
        rules = List.copyOf(rules);
    }

    /** Whether the caller may submit: it needs the permission to submit, and one rule of the queue that admits it. */
    public boolean maySubmit(Caller caller) {
        return caller.may(Permission.WORKLOADS_SUBMIT) && rules.stream().anyMatch(rule -> rule.admits(caller));
    }

    /** Whether these rules admit every caller that the others admit. */
    public boolean include(QueueAccessRules others) {
        return others.rules.stream().allMatch(other -> rules.stream().anyMatch(rule -> rule.includes(other)));
    }

    /** Whether one of these rules names the user or service account, or admits the whole tenant. */
    public boolean admitNamed(String username) {
        return rules.stream().anyMatch(rule -> rule.admitsNamed(username));
    }
}
