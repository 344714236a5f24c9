import type { LivedDay } from "./bad-day.ts";
import { shortening } from "./shorten-rules.ts";

/** Returns the page docs/bad-days.md. */
export function badDaysPage(days: readonly LivedDay[]): string {
	return `# Bad days

Each of these days was made to happen on real parts: chain nodes, PostgreSQL, Redis, Restate, the processes of \`geoswapd\`, and a
Prometheus with the rules of [deploy/alerts.yml](../deploy/alerts.yml). While four callers swapped (EVM to EVM both ways, to
Solana and from it), one thing broke. When its alert fired, a program followed [the alert's page](runbooks), with the commands
as the page has them. A day ends when the page's check holds and a swap of every route has settled. Then every wallet and every
recipient has what the status of its swaps says, no swap is left open, and \`geoswapd reconcile\` exits with 0. "Lost" is the
audit's figure.

In these runs, the rules' \`for\` and windows are divided by ${shortening}; thresholds are as they are. So an operator waits longer for
an alarm than the table says: up to ${shortening} times. Chains make a block a second and are final after about five. The seconds are
from one run on two cores that other programs used too: they show that a day ends, not how fast a service recovers.

Callers saw: how their swaps ended, and the codes of calls that were refused. The SDK repeats most refused calls by itself.

| Day | How it was made | Alarm | Seconds to alarm | Seconds to recover | Callers saw | Lost |
|---|---|---|---:|---:|---|---:|
${days.map(rowOf).join("\n")}

The tests are in [e2e/bad-days](../e2e/bad-days); a test without a row here has no recorded run.
\`bash .ci/run full bad-days-1\` to \`bad-days-3\` runs them, \`GEOSWAP_RECORD=1\` keeps what they measure,
and \`node e2e/bad-days/generate-page.ts\` writes this page.
`;
}

function rowOf(day: LivedDay): string {
	const { name, how, alert, secondsToAlarm, secondsToRecover, swaps, refusals, note, lostUsd } = day;
	const saw = [
		...Object.entries(swaps).map(([outcome, count]) => `${count} ${outcome}`),
		...Object.entries(refusals).map(([code, count]) => `${count} × \`${code}\``),
	].join(", ");
	const seen = note === undefined ? saw : `${saw} (${note})`;
	const page = `[${alert}](runbooks/${alert}.md)`;
	return `| ${name} | ${how} | ${page} | ${secondsToAlarm} | ${secondsToRecover} | ${seen} | ${lostUsd} |`;
}
