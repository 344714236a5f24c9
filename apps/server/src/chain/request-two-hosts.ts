import type { DepositSight, ToldDeposit } from "./deposit-sight.ts";

/** How far a provider must be, with its final block or, if that is enough, with its head. */
export type NeededDepth = { headNumber?: number; finalizedNumber: number };

/** A provider, and the function that reads a deposit from this provider alone. */
export type AskedHost = { host: string; see: (deposit: ToldDeposit) => Promise<DepositSight> };

type Agreed = DepositSight & { verdict: "agrees" };

/** Returns whether a provider's head or final block is as far as needed. */
export function isFarEnough(
	sight: Pick<Agreed, "headNumber" | "finalizedNumber">,
	{ headNumber, finalizedNumber }: NeededDepth,
): boolean {
	return (
		(headNumber !== undefined && sight.headNumber >= headNumber) || sight.finalizedNumber >= finalizedNumber
	);
}

/**
 * Reads a deposit from all hosts concurrently, each separately, until two have it as deep as needed. The host that
 * reported it counts like any other. Throws if fewer than two answer.
 */
export async function requestTwoHosts(
	hosts: readonly AskedHost[],
	deposit: ToldDeposit,
	needed: NeededDepth,
): Promise<DepositSight> {
	const agreed: Agreed[] = [];
	const different: string[] = [];
	const silent: string[] = [];
	let answered = 0;
	const both = Promise.withResolvers<DepositSight>();
	const all = hosts.map(async ({ host, see }) => {
		try {
			const sight = await see(deposit);
			answered++;
			if (sight.verdict === "differs") different.push(`${host}: ${sight.how}`);
			if (sight.verdict !== "agrees") return;
			agreed.push(sight);
			const two = depthOfTwo(agreed);
			if (two && isFarEnough(two, needed)) both.resolve(two);
		} catch {
			// The error may contain the URL, which may hold a key.
			silent.push(host);
		}
	});
	return Promise.race([both.promise, Promise.all(all).then(verdict)]);

	function verdict(): DepositSight {
		if (different.length > 0) return { verdict: "differs", how: different.join("; ") };
		if (answered < 2) throw new Error(`two hosts are needed, but these do not answer: ${silent.join(", ")}`);
		return depthOfTwo(agreed) ?? { verdict: "behind" };
	}
}

/** Returns the head and the final block that two of the providers have reached; undefined if there are no two. */
function depthOfTwo(agreed: readonly Agreed[]): Agreed | undefined {
	if (agreed.length < 2) return undefined;
	const second = (numbers: number[]) => numbers.sort((one, other) => other - one)[1] as number;
	return {
		verdict: "agrees",
		headNumber: second(agreed.map(({ headNumber }) => headNumber)),
		finalizedNumber: second(agreed.map(({ finalizedNumber }) => finalizedNumber)),
	};
}
