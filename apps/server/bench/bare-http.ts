// What the service's HTTP calls cost without the service: the same framework, schema and seal, and nothing behind them.
// Listens on the port given, and is told by its environment what a token holds.
import { quoteRequestSchema } from "@geoswap/protocol";
import { fastify } from "fastify";
import { CompactEncrypt } from "jose";

const holdMs = 15_000;
const secret = Buffer.alloc(32, 1);
const content = Buffer.alloc(Number(process.env.TOKEN_BYTES ?? 2_000), "a");

const app = fastify();
app.get("/ready", async () => ({}));
app.post("/swap/quote", async ({ body }) => {
	const request = quoteRequestSchema.parse(body);
	const geoQuoteToken = await new CompactEncrypt(content)
		.setProtectedHeader({ alg: "dir", enc: "A256GCM", kid: "bare" })
		.encrypt(secret);
	return { geoQuoteToken, recipient: request.walletAddress };
});
app.get("/swap/status/:swapId", async ({ params }) => {
	await new Promise((resolve) => setTimeout(resolve, holdMs));
	return params;
});
await app.listen({ host: "127.0.0.1", port: Number(process.argv[2]) });
