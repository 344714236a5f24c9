// Answers the calls that the bench makes, without the service. It has Fastify, the request's zod schema, a JWE of a
// quote's size by jose, and an answer with a quote's fields, but no key, no limit and no price. A timer holds a status
// call for the requested seconds. Listens on the given port.
import { type QuoteResponse, quoteRequestSchema } from "@geoswap/protocol";
import { fastify } from "fastify";
import { CompactEncrypt } from "jose";

const secret = Buffer.alloc(32, 1);
/** A payload about as long as that of a quote's token. */
const sealed = { purpose: "quote:evm", payload: "a".repeat(Number(process.env.TOKEN_BYTES ?? 1_400)) };
const answer: Omit<QuoteResponse, "geoQuoteToken" | "recipient"> = {
	expiresAt: new Date(0).toISOString(),
	origin: "evm",
	amount: "100000000",
	output: "33124567891234567",
	minOutput: "32130830854497529",
	feeBps: 5,
	inputUsd: "100.00",
	outputUsd: "99.37",
	priceImpactBps: -63,
	swapId: "swp_01m7hejgt9ezzsg7d3ftm9fgbb",
	slippageBps: 300,
	etaSeconds: 4,
	summary: "100 USDC on Devnet One -> about 0.033124 WETH on Devnet Two",
};

const app = fastify();
app.get("/ready", async () => ({}));
app.post("/swap/quote", async ({ body }) => {
	const { walletAddress } = quoteRequestSchema.parse(body);
	const geoQuoteToken = await new CompactEncrypt(Buffer.from(JSON.stringify({ ...sealed, walletAddress })))
		.setProtectedHeader({ alg: "dir", enc: "A256GCM", kid: "bare" })
		.encrypt(secret);
	return { geoQuoteToken, ...answer, recipient: walletAddress };
});
app.get<{ Params: { swapId: string }; Querystring: { wait?: string } }>(
	"/swap/status/:swapId",
	async ({ params, query }) => {
		await new Promise((resolve) => setTimeout(resolve, Number(query.wait ?? 15) * 1_000));
		return params;
	},
);
await app.listen({ host: "127.0.0.1", port: Number(process.argv[2]) });
