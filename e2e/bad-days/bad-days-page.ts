import type { LivedDay } from "./bad-day.ts";
import { shortening } from "./shorten-rules.ts";

/** Returns the page docs/bad-days.md. */
export function badDaysPage(days: readonly LivedDay[]): string {
	return `# Bad days

Each day was made to happen on real chain nodes, databases, engine, processes and a Prometheus with the rules of
[deploy/alerts.yml](../deploy/alerts.yml). While four callers swapped, one thing broke. When its alert fired, a program ran the
commands of [the alert's page](runbooks). A day ends when the page's check holds and a swap of every route has settled. At the end
the balances of all wallets and recipients matched the status of their swaps, and \`geoswapd reconcile\` exited with 0, except
after the theft, where it printed the thief's deliveries only.

| Column | Meaning |
|---|---|
| Seconds to alarm | from the moment when it broke until the alert fired |
| Seconds to recover | from the alert until the day ended |
| Callers saw | how the swaps of the four callers ended, and the codes of their calls that were refused. \`no answer\` is a broken connection |
| Lost, USD | the operator's loss by the audit. No caller lost anything |

**How this differs from production.** The rules' \`for\` and windows are divided by ${shortening}, so an operator waits up to
${shortening} times longer for an alarm. The books are audited every 20 seconds instead of every 300. Chains make a block a second
and are final after about five. There is one API process and one worker, so restarting either is an interruption. The seconds are
from one run on two cores that other programs used too.

| Day | How it was made | Alarm | Seconds to alarm | Seconds to recover | Callers saw | Lost, USD |
|---|---|---|---:|---:|---|---:|
${days.map(rowOf).join("\n")}

## What these days do not show

- **Finality and providers.** The faults of nodes are in proxies in front of one node for each chain. The day does not show that
  deliveries stop at \`unfinalCapUsd\`.
- **Commands not run.** When a chain halted, relayers were empty and the vault was paused, the \`cast\` commands of the pages were
  not run, because the machine did not have the program.

\`bash .ci/run full bad-days-1\` to \`bad-days-3\` runs [these tests](../e2e/bad-days), \`GEOSWAP_RECORD=1\` keeps what they measure,
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
