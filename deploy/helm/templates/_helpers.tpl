{{- define "weir.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "weir.selector" -}}
app.kubernetes.io/name: weir
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "weir.labels" -}}
{{ include "weir.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- /* The ports of a Service: the same for the balanced one and the one that names each server. */ -}}
{{- define "weir.servicePorts" -}}
- name: http
  port: {{ .Values.ports.platform }}
  targetPort: http
{{- if ne (int .Values.ports.deployment) 0 }}
- name: http-deployment
  port: {{ .Values.ports.deployment }}
  targetPort: http-deployment
{{- end }}
{{- if ne (toString .Values.ports.otlpGrpc) "off" }}
- name: grpc-otlp
  port: {{ .Values.ports.otlpGrpc }}
  targetPort: grpc-otlp
  appProtocol: kubernetes.io/h2c
{{- end }}
{{- end -}}
