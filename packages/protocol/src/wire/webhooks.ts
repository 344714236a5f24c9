import * as z from "zod";
import { openEnum, timeSchema } from "./fields.ts";

const webhookIdSchema = z.string().describe("The webhook's id.");
const webhookUrlSchema = z.string().describe("The address that events are sent to.");
const secretSchema = z
	.string()
	.describe("The signing secret, in the form of Standard Webhooks. It is shown only in this answer.");

/** POST /webhooks. */
export const webhookRequestSchema = z.object({
	url: z
		.string()
		.min(1)
		.describe(
			"The address to send events to. It must begin with https:// and be reachable from the internet.",
		),
});

export const webhookResponseSchema = z.object({
	webhookId: webhookIdSchema,
	url: webhookUrlSchema,
	secret: secretSchema,
});
export type WebhookResponse = z.infer<typeof webhookResponseSchema>;

/** GET /webhooks. */
export const webhooksResponseSchema = z.object({
	webhooks: z
		.array(
			z.object({
				webhookId: webhookIdSchema,
				url: webhookUrlSchema,
				state: openEnum(["active", "failing", "disabled"]).describe(
					"`failing`: the last delivery failed and is retried. `disabled`: nothing is sent any more; delete it and add it again.",
				),
				createdAt: timeSchema.describe("When it was added."),
				lastSuccessAt: timeSchema.optional().describe("When the receiver last accepted an event."),
				failingSince: timeSchema.optional().describe("Since when no delivery has succeeded."),
				lastError: z.string().optional().describe("Why the last failed delivery failed."),
				lastErrorAt: timeSchema.optional().describe("When it failed."),
				waiting: z.int().describe("The number of events that are still to be delivered."),
				givenUp: z.int().describe("The number of events that were never delivered."),
			}),
		)
		.describe("The account's webhooks, oldest first."),
});
export type WebhooksResponse = z.infer<typeof webhooksResponseSchema>;

/** DELETE /webhooks/{webhookId}. */
export const removedWebhookSchema = z.object({ webhookId: webhookIdSchema });
export type RemovedWebhook = z.infer<typeof removedWebhookSchema>;

/** POST /webhooks/{webhookId}/rotate. */
export const rotatedWebhookSchema = z.object({
	webhookId: webhookIdSchema,
	secret: secretSchema,
	previousUntil: timeSchema.describe("Until then, events are signed with the secret that was replaced, too."),
});
export type RotatedWebhook = z.infer<typeof rotatedWebhookSchema>;
