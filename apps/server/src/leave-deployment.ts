import { askUntil } from "./ask-until.ts";
import { countByService, drainDeployment } from "./durable/drain-deployment.ts";
import type { Engine } from "./durable/durable.ts";
import type { EngineAdmin } from "./durable/engine-admin.ts";
import { isSuperseded } from "./durable/register-deployment.ts";
import type { Log } from "./log.ts";

/** A line of thousands is cut off on its way to whoever reads it. */
const namedAtMost = 20;

/**
 * What a worker does before it ends. Where a newer version serves, the engine still sends here what began here, and
 * nowhere else. Of what is `left` the newest version takes over what it can, after a while.
 */
export async function leaveDeployment({
	admin,
	engine,
	deploymentId,
	answerWithinMs,
	patienceMs,
	log,
}: {
	admin: Pick<EngineAdmin, "newestDeployment" | "unfinishedOn" | "kill" | "removeDeployment">;
	engine: Pick<Engine, "startSwap" | "poke">;
	deploymentId: string;
	/** How long the engine may take to say whether a newer version serves. */
	answerWithinMs: number;
	patienceMs: number;
	log: Log;
}): Promise<"drained" | "still-newest" | "left"> {
	const deadlineMs = performance.now() + answerWithinMs;
	const isLeft = await askUntil(() => isSuperseded(admin, deploymentId), deadlineMs);
	if (isLeft === undefined) {
		log.error({ deploymentId }, "the engine does not say whether a newer version serves: nothing is drained");
		return "left";
	}
	if (!isLeft) return "still-newest";
	log.info({ deploymentId }, "a newer version serves: draining");
	try {
		const left = await drainDeployment({ admin, engine, deploymentId, patienceMs, log });
		if (left === "no-successor") {
			log.error({ deploymentId }, "the newer version is gone: swaps wait until this worker is started again");
			return "left";
		}
		if (left.length === 0) {
			log.info({ deploymentId }, "drained: the engine has forgotten this worker");
			return "drained";
		}
		log.error(
			{
				deploymentId,
				left: countByService(left),
				first: left.slice(0, namedAtMost).map(({ service, key }) => `${service}/${key}`),
			},
			"the drain took too long: the newest version takes over what is left",
		);
	} catch (error) {
		log.error(
			{ deploymentId, err: error },
			"the drain took too long, and the engine does not say what is left",
		);
	}
	return "left";
}
