/**
 * One story, played by the generated TypeScript client against a running service: submit, watch, explain, cancel, usage.
 *
 * Prints each step; ends with an error where the service or the client does not do what the contract says.
 */
import {
    Configuration,
    ProblemFromJSON,
    QueuesApi,
    ResponseError,
    UsageApi,
    UsageGroupBy,
    WaitReasonCode,
    WorkloadEventFromJSON,
    WorkloadState,
    WorkloadType,
    WorkloadsApi,
    instanceOfDryRun,
    instanceOfSubmitted,
    type Problem,
    type Submission,
    type SubmitWorkload200Response,
    type Submitted,
    type WorkloadEvent,
} from '../typescript/index.js';

declare const process: { env: Record<string, string | undefined>; exit(code: number): never };

const PATIENCE_MILLIS = 90_000;
const LOOK_MILLIS = 100;
const RUN = crypto.randomUUID();
const FIRST = 'first-' + RUN;
const SECOND = 'second-' + RUN;

function setting(name: string): string {
    const value = process.env[name];
    require(value !== undefined && value !== '', name + ' is not set');
    return value;
}

function require(condition: boolean, ...seen: unknown[]): asserts condition {
    if (!condition) {
        throw new Error('not as expected: ' + JSON.stringify(seen));
    }
}

const tenant = setting('STORY_TENANT');
const stranger = setting('STORY_STRANGER');
const queue = setting('STORY_QUEUE');
const configuration = new Configuration({ basePath: setting('STORY_URL'), accessToken: setting('STORY_TOKEN') });
const workloads = new WorkloadsApi(configuration);
const usage = new UsageApi(configuration);
const events: WorkloadEvent[] = [];

function submission(name: string): Submission {
    return { queue, name, type: WorkloadType.Training, command: ['sleep', '600'] };
}

function submitted(answer: SubmitWorkload200Response): Submitted {
    require(instanceOfSubmitted(answer), answer);
    return answer;
}

function pause(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, LOOK_MILLIS));
}

async function eventually<T>(look: () => Promise<T | undefined> | T | undefined, what: string): Promise<T> {
    const deadline = Date.now() + PATIENCE_MILLIS;
    while (Date.now() < deadline) {
        const found = await look();
        if (found !== undefined) {
            return found;
        }
        await pause();
    }
    throw new Error(what + ' did not happen; seen: ' + JSON.stringify(events));
}

/** Reads the live view until the stream ends. */
async function watch(stream: ReadableStream<Uint8Array>): Promise<void> {
    const reader = stream.getReader();
    const text = new TextDecoder();
    let rest = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
        const lines = (rest + text.decode(part.value, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        lines
            .filter((line) => line.startsWith('data:'))
            .forEach((line) => events.push(WorkloadEventFromJSON(JSON.parse(line.substring('data:'.length)))));
    }
}

async function seen(workload: string, state: WorkloadState): Promise<void> {
    await eventually(
        () => events.find((event) => event.workload === workload && event.state === state),
        workload + ' ' + state,
    );
}

async function refusal(call: Promise<unknown>): Promise<Problem> {
    try {
        await call;
    } catch (error) {
        require(error instanceof ResponseError, String(error));
        return ProblemFromJSON(await error.response.json());
    }
    throw new Error('the request was not refused');
}

async function story(): Promise<void> {
    const begin = new Date();
    begin.setUTCMinutes(0, 0, 0);

    const queues = await new QueuesApi(configuration).listQueues({ tenant });
    require(queues.items.some((one) => one.name === queue), queues);
    const view = await workloads.watchWorkloadsRaw({ tenant });
    require(view.raw.body !== null);
    watch(view.raw.body).catch((error) => console.error(error));

    const planned = await workloads.submitWorkload({ tenant, dryRun: true, submission: submission(FIRST) });
    require(instanceOfDryRun(planned) && planned.status === 201, planned);
    require((await workloads.listWorkloads({ tenant, name: FIRST })).items.length === 0);
    const once = { tenant, idempotencyKey: RUN, submission: submission(FIRST) };
    const first = submitted(await workloads.submitWorkload(once));
    require(submitted(await workloads.submitWorkload(once)).id === first.id, first);
    console.log('submitted once');

    await seen(first.id, WorkloadState.Running);
    console.log('watched it start');

    const second = submitted(await workloads.submitWorkload({ tenant, submission: submission(SECOND) }));
    const explanation = await eventually(async () => {
        const told = await workloads.explainWorkload({ tenant, workload: second.id });
        return told.reasons.length > 0 ? told : undefined;
    }, 'an explanation');
    require(explanation.state === WorkloadState.Waiting, explanation);
    require(explanation.reasons.map((reason) => reason.code).join() === WaitReasonCode.Limit, explanation);
    require(explanation.reasons[0]?.remedy !== undefined, explanation);
    console.log('explained: ' + explanation.sentence);

    for (const workload of [second, first]) {
        await workloads.cancelWorkload({ tenant, workload: workload.id });
        await seen(workload.id, WorkloadState.Cancelled);
    }
    const cancelled = await workloads.listWorkloads({ tenant, state: [WorkloadState.Cancelled] });
    const ids = cancelled.items.map((workload) => workload.id);
    require(ids.includes(first.id) && ids.includes(second.id), cancelled);
    const details = await workloads.getWorkload({ tenant, workload: first.id });
    require(details.attempts.map((attempt) => attempt.number).join() === '1', details);
    console.log('cancelled');

    const used = await usage.getUsage({ tenant, from: begin, groupBy: [UsageGroupBy.Queue, UsageGroupBy.User] });
    const held = used.rows.find((row) => row.queue === queue && row.user !== undefined)?.totals.held;
    require(held !== undefined && BigInt(held.gpuMilliMillis) > 0n, used);
    console.log('used ' + used.totals.held.gpuHours + ' GPU-hours');

    const closed = await refusal(workloads.getWorkload({ tenant: stranger, workload: first.id }));
    require(closed.status === 404, closed);
    const garbage = await refusal(workloads.listWorkloads({ tenant, pageToken: 'garbage' }));
    require(garbage.status === 400 && garbage.errors?.map((error) => error.field).join() === 'pageToken', garbage);
    console.log('refused as documented');
}

story().then(
    () => process.exit(0),
    (error) => {
        console.error(error);
        process.exit(1);
    },
);
