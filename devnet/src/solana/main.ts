import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { rpcServer } from "./rpc-server.ts";
import { slotClock } from "./slot-clock.ts";
import { solanaNode } from "./solana-node.ts";

// Only types are imported from protocol, because its code would double the time that the process takes to start.
const { values } = parseArgs({
	options: {
		port: { type: "string", default: "0" },
		"slot-ms": { type: "string", default: "200" },
		"confirmed-slots": { type: "string", default: "2" },
		"finality-slots": { type: "string", default: "32" },
		"skip-every": { type: "string" },
	},
});

const { chain, faults, methods } = await solanaNode({
	confirmedSlots: Number(values["confirmed-slots"]),
	finalitySlots: Number(values["finality-slots"]),
	skipEvery: values["skip-every"] ? Number(values["skip-every"]) : undefined,
	now: Date.now,
});
const server = rpcServer({ chain, faults, methods });
slotClock({ slotMs: Number(values["slot-ms"]), tick: chain.tick });
server.once("error", (error) => {
	console.error(error.message);
	process.exit(1);
});
server.listen(Number(values.port), "127.0.0.1", () => {
	console.log(`Listening on 127.0.0.1:${(server.address() as AddressInfo).port}`);
});
