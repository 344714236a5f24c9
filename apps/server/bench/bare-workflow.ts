// The engine without the service: a workflow of five steps that do nothing. Listens on the port given.
import { createServer } from "node:http2";
import { createEndpointHandler, type WorkflowContext, workflow } from "@restatedev/restate-sdk";

const bare = workflow({
	name: "bare",
	handlers: {
		run: async (ctx: WorkflowContext) => {
			for (const name of ["one", "two", "three", "four", "five"]) await ctx.run(name, async () => {});
		},
	},
});
createServer(createEndpointHandler({ services: [bare] })).listen(Number(process.argv[2]), "127.0.0.1");
