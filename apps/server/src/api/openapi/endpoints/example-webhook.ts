export const exampleWebhookId = "wh_0198f3a1c2d47e5f8a9b0c1d2e3f4a5b";
export const exampleWebhookUrl = "https://agent.example/geoswap";
/** The secret of an example, which signs nothing. */
export const exampleWebhookSecret = "whsec_ERERERERERERERERERERERERERERERERERERERERERE=";
