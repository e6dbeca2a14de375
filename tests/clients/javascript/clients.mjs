// What the scenario needs of each client. An answer is {said, calls, text, thinking}; `said` is appended to the history.

import Anthropic from "@anthropic-ai/sdk";
import { ApiError, GoogleGenAI } from "@google/genai";
import OpenAI from "openai";

const SCHEMA = {
  type: "object",
  properties: { command: { type: "string" }, description: { type: "string" } },
  required: ["command", "description"],
  additionalProperties: false,
};
// A picture of 1 × 1 points.
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
const URL_OF_PNG = `data:image/png;base64,${PNG}`;

const headers = (manner) => (manner ? { "x-scripted": manner } : {});

class Chat {
  static variable = "OPENAI_BASE_URL";
  static refusal = OpenAI.BadRequestError;
  waitsAsTold = true;

  constructor(baseURL) {
    this.client = new OpenAI({ apiKey: "k", ...(baseURL && { baseURL }) });
  }

  user(text) {
    return [{ role: "user", content: text }];
  }

  asked(messages, hasTools) {
    const tool = { type: "function", function: { name: "bash", parameters: SCHEMA, strict: true } };
    return { model: "gpt-5.5", messages, reasoning_effort: "low", ...(hasTools && { tools: [tool] }) };
  }

  async ask(history, isStream, { manner, hasTools } = {}) {
    const asked = [this.asked(history, hasTools), { headers: headers(manner) }];
    const completions = this.client.chat.completions;
    const answer = await (isStream ? completions.stream(...asked).finalChatCompletion() : completions.create(...asked));
    const { message } = answer.choices[0];
    const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: json } }) => ({
      id,
      name,
      arguments: JSON.parse(json),
    }));
    return { said: [message], calls, text: message.content ?? "" };
  }

  async chunks(history, manner) {
    const asked = { ...this.asked(history), stream: true };
    const stream = await this.client.chat.completions.create(asked, { headers: headers(manner) });
    return [stream, stream.controller];
  }

  outputs(outputs) {
    const texts = outputs.map(({ call, text }) => ({ role: "tool", tool_call_id: call.id, content: text }));
    // Outputs are texts only.
    const image = { type: "image_url", image_url: { url: URL_OF_PNG } };
    const pictures = outputs.filter(({ hasImage }) => hasImage).map(() => ({ role: "user", content: [image] }));
    return [...texts, ...pictures];
  }
}

class Responses extends Chat {
  showsThinking = true;

  asked(input, hasTools) {
    const tool = { type: "function", name: "bash", parameters: SCHEMA, strict: true };
    return {
      model: "gpt-5.5",
      input,
      store: false,
      reasoning: { effort: "low", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      ...(hasTools && { tools: [tool] }),
    };
  }

  async ask(history, isStream, { manner, hasTools } = {}) {
    const asked = [this.asked(history, hasTools), { headers: headers(manner) }];
    const { responses } = this.client;
    const answer = await (isStream ? responses.stream(...asked).finalResponse() : responses.create(...asked));
    const of = (type) => answer.output.filter((item) => item.type === type);
    const calls = of("function_call").map(({ call_id: id, name, arguments: json }) => ({
      id,
      name,
      arguments: JSON.parse(json),
    }));
    const thinking = of("reasoning").flatMap(({ summary }) => summary.map(({ text }) => text));
    return { said: answer.output, calls, text: answer.output_text, thinking: thinking.join("") };
  }

  async chunks(history, manner) {
    const asked = { ...this.asked(history), stream: true };
    const stream = await this.client.responses.create(asked, { headers: headers(manner) });
    return [stream, stream.controller];
  }

  outputs(outputs) {
    const image = { type: "input_image", image_url: URL_OF_PNG, detail: "auto" };
    return outputs.map(({ call, text, hasImage }) => ({
      type: "function_call_output",
      call_id: call.id,
      output: hasImage ? [{ type: "input_text", text }, image] : text,
    }));
  }

  async count(input, manner) {
    const asked = { model: "gpt-5.5", input };
    return (await this.client.responses.inputTokens.count(asked, { headers: headers(manner) })).input_tokens;
  }
}

class Messages {
  static variable = "ANTHROPIC_BASE_URL";
  static refusal = Anthropic.BadRequestError;
  showsThinking = true;
  waitsAsTold = true;

  constructor(baseURL) {
    this.client = new Anthropic({ apiKey: "k", ...(baseURL && { baseURL }) });
  }

  user(text) {
    return [{ role: "user", content: text }];
  }

  asked(messages, hasTools) {
    return {
      model: "claude-opus-5-5",
      max_tokens: 2048,
      messages,
      thinking: { type: "enabled", budget_tokens: 1024 },
      ...(hasTools && { tools: [{ name: "bash", input_schema: SCHEMA }] }),
    };
  }

  async ask(history, isStream, { manner, hasTools } = {}) {
    const asked = [this.asked(history, hasTools), { headers: headers(manner) }];
    const { messages } = this.client;
    const { content } = await (isStream ? messages.stream(...asked).finalMessage() : messages.create(...asked));
    const of = (type) => content.filter((block) => block.type === type);
    return {
      said: [{ role: "assistant", content }],
      calls: of("tool_use").map(({ id, name, input }) => ({ id, name, arguments: input })),
      text: of("text").map(({ text }) => text).join(""),
      thinking: of("thinking").map(({ thinking }) => thinking).join(""),
    };
  }

  async chunks(history, manner) {
    const asked = { ...this.asked(history), stream: true };
    const stream = await this.client.messages.create(asked, { headers: headers(manner) });
    return [stream, stream.controller];
  }

  outputs(outputs) {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
    const content = outputs.map(({ call, text, isError, hasImage }) => ({
      type: "tool_result",
      tool_use_id: call.id,
      content: [{ type: "text", text }, ...(hasImage ? [image] : [])],
      is_error: isError,
    }));
    return [{ role: "user", content }];
  }

  async count(messages, manner) {
    const asked = { model: "claude-opus-5-5", messages };
    return (await this.client.messages.countTokens(asked, { headers: headers(manner) })).input_tokens;
  }
}

class Gemini {
  static variable = "GOOGLE_GEMINI_BASE_URL";
  static refusal = ApiError;
  showsThinking = true;
  // It repeats after times of its own.
  waitsAsTold = false;

  constructor(baseUrl) {
    const httpOptions = { retryOptions: { attempts: 3 }, ...(baseUrl && { baseUrl }) };
    this.models = new GoogleGenAI({ apiKey: "k", httpOptions }).models;
  }

  user(text) {
    return [{ role: "user", parts: [{ text }] }];
  }

  asked(contents, { manner, hasTools, abortSignal } = {}) {
    const { additionalProperties, ...schema } = SCHEMA;
    const bash = { name: "bash", description: "Runs a command.", parametersJsonSchema: schema };
    const config = {
      thinkingConfig: { includeThoughts: true },
      httpOptions: { headers: headers(manner) },
      abortSignal,
      ...(hasTools && { tools: [{ functionDeclarations: [bash] }] }),
    };
    return { model: "gemini-3-pro", contents, config };
  }

  async ask(history, isStream, options) {
    const asked = this.asked(history, options);
    const answers = [];
    if (isStream) {
      for await (const chunk of await this.models.generateContentStream(asked)) answers.push(chunk);
    } else {
      answers.push(await this.models.generateContent(asked));
    }
    const parts = answers.flatMap(({ candidates }) => candidates[0].content.parts);
    const texts = (isThought) => parts.filter(({ text, thought }) => text && Boolean(thought) === isThought);
    const joined = (isThought) => texts(isThought).map(({ text }) => text).join("");
    const calls = answers.flatMap(({ functionCalls }) => functionCalls ?? []);
    return {
      said: [{ role: "model", parts }],
      calls: calls.map(({ name, args }) => ({ name, arguments: args })),
      text: joined(false),
      thinking: joined(true),
    };
  }

  async chunks(history, manner) {
    const controller = new AbortController();
    const asked = this.asked(history, { manner, abortSignal: controller.signal });
    return [await this.models.generateContentStream(asked), controller];
  }

  outputs(outputs) {
    const image = { inlineData: { mimeType: "image/png", data: PNG } };
    const parts = outputs.map(({ call, text, isError, hasImage }) => ({
      functionResponse: {
        name: call.name,
        response: { [isError ? "error" : "output"]: text },
        ...(hasImage && { parts: [image] }),
      },
    }));
    return [{ role: "user", parts }];
  }

  async count(contents, manner) {
    const asked = { model: "gemini-3-pro", contents, config: { httpOptions: { headers: headers(manner) } } };
    return (await this.models.countTokens(asked)).totalTokens;
  }
}

export const CLIENTS = { chat: Chat, responses: Responses, anthropic: Messages, gemini: Gemini };
