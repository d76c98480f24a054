package weir;

import java.util.Map;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;

/** Spring AI with Spring Boot's OpenTelemetry. The environment and what is printed are those of ../clients.py. */
@SpringBootApplication
public class Client {
  static final String SYSTEM = "You are a helpful assistant.";

  /** The tools of the application. */
  public static class Tools {
    @Tool(name = "get_weather", description = "The weather of a city.")
    public String getWeather(String city) {
      return "18 degrees, sunny";
    }
  }

  public static void main(String[] args) {
    var env = System.getenv();
    var export = "management.opentelemetry.tracing.export.otlp.";
    Map<String, Object> properties =
        Map.of(
            "spring.ai.openai.api-key", "none",
            "spring.ai.openai.base-url", env.get("VENDOR_URL") + "/v1",
            "spring.ai.openai.chat.model", "gpt-4.1-mini",
            "spring.main.banner-mode", "off",
            "logging.level.root", "error",
            "management.tracing.sampling.probability", "1.0",
            export + "endpoint", env.get("WEIR_URL") + "/v1/traces",
            export + "headers.x-api-key", env.get("WEIR_KEY"),
            export + "headers.langsmith-project", env.get("PROJECT"));
    var builder = new SpringApplicationBuilder(Client.class).web(WebApplicationType.NONE).properties(properties);
    try (var app = builder.run(args)) {
      ask(ChatClient.builder(app.getBean(ChatModel.class)).build());
    }
    var versions = "spring-ai %s, spring-boot %s";
    System.out.println(
        versions.formatted(
            ChatModel.class.getPackage().getImplementationVersion(),
            SpringBootApplication.class.getPackage().getImplementationVersion()));
    // The threads of the vendor's client would keep the process for a minute.
    System.exit(0);
  }

  static void ask(ChatClient client) {
    client.prompt().system(SYSTEM).user("Hi there").call().content();
    client.prompt().system(SYSTEM).user("Hi there").stream().content().blockLast();
    client.prompt().user("Weather in Paris?").tools(new Tools()).call().content();
    try {
      client.prompt().user("Hi there").options(OpenAiChatOptions.builder().model("gpt-broken")).call().content();
    } catch (RuntimeException error) {
      if (!error.getMessage().contains("broken")) throw error;
      return;
    }
    throw new IllegalStateException("the vendor has not refused");
  }
}
